/** Where outcomes become HTTP: answers as plain values, and request bodies read under a limit. */
export {
  type Answer,
  type BearerChallenge,
  bearerChallenge,
  bearerToken,
  type ClientReturn,
  codeRedirect,
  emptyAnswer,
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
export { type BodyLimit, queryText, readForm, readFormText, readJsonText, readQuery } from "./body.ts";
