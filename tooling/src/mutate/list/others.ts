/** Defences of the other workspaces. list.ts says how to read an entry. */
import type { Defences } from "../mutation.ts";

export const OTHERS_DEFENCES: Defences = {
  "packages/broker-client/src/broker/http.ts": {
    "A client reads no endless answer of its broker": "if (size <= MOST_BYTES {+* 1e6 +}&& chunks.length <=",
  },
  "packages/broker-client/src/waits.ts": {
    "broker/refresh, direct/vendor-answers: A wait of one connection's vendor keeps no other connection waiting":
      "const [-known = waiting.get(key-]{+[known = waiting.get(key)] = waiting.values(+});",
    "broker/refresh, direct/vendor-answers: A wait of one user's vendor keeps no other user of the same connection waiting":
      'JSON.stringify([vendor, connection, refreshToken{+ === "" ? refreshToken : ""+}])',
  },
  // The other examples are tried by the same tests, in the soak alone.
  "examples/express/main.ts": {
    "examples: The Express example takes forms of its own origin only": 'req.get("origin") [-=== APP_URL-]{+!== ""+}',
    "bar#XA-7 The Express example begins a new session at sign-in":
      "req.session.[-regenerate((error) => {-]{+reload((error) => {\n    error = undefined;+}",
  },
};
