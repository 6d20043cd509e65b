/** Where outcomes become HTTP: answers as plain values. */
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
