export {
  type Answer,
  type BearerChallenge,
  bearerChallenge,
  type ClientReturn,
  codeRedirect,
  errorAnswer,
  errorHeaders,
  errorRedirect,
  foreignAnswer,
  formPageAnswer,
  jsonAnswer,
  jwtAnswer,
  pageAnswer,
  redirectAnswer,
} from "./answers.ts";
export { type BodyLimit, readForm, readJsonText } from "./body.ts";
