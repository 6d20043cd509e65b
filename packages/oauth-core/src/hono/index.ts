export {
  type Answer,
  type ClientReturn,
  codeRedirect,
  errorAnswer,
  errorHeaders,
  errorRedirect,
  jsonAnswer,
  pageAnswer,
  redirectAnswer,
} from "./answers.ts";
export { type BodyLimit, readForm, readJsonText } from "./body.ts";
