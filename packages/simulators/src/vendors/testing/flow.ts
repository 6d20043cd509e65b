/** The code flow of one app at a simulated vendor: what is usually asked and sent, and what a test changes. */
import {
  type Answer,
  type Browse,
  CALLBACK,
  CHALLENGE,
  goThrough,
  type Members,
  postForm,
  VERIFIER,
  withQuery,
} from "./http.ts";

export interface Flow {
  authorizeUrl(query?: Members): URL;
  token(form: Members, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  redeem(code: string | undefined, form?: Members): Promise<Answer>;
  refresh(refreshToken: unknown, form?: Members): Promise<Answer>;
  /** @throws Error when no tokens are issued */
  connect(query?: Members, options?: Browse): Promise<Answer["body"]>;
}

/**
 * @param endpoints of the vendor, by their names in metadata
 * @param app.asked beside what every app asks
 * @param app.credentials `client_id`, and how the app authenticates
 * @param app.send default: a form
 */
export function flowOf(
  endpoints: Readonly<Record<string, string>>,
  app: {
    readonly asked: Members;
    readonly credentials: Members & { readonly client_id: string };
    readonly send?: typeof postForm;
  },
): Flow {
  const { asked, credentials, send = postForm } = app;
  const flow: Flow = {
    authorizeUrl: (query) =>
      withQuery(endpoints["authorization_endpoint"]!, {
        client_id: credentials.client_id,
        redirect_uri: CALLBACK,
        response_type: "code",
        state: "s1",
        code_challenge: CHALLENGE,
        code_challenge_method: "S256",
        ...asked,
        ...query,
      }),
    token: (form, headers) => send(endpoints["token_endpoint"]!, form, headers),
    redeem: (code = "", form = {}) => {
      const bound = { code, code_verifier: VERIFIER, redirect_uri: CALLBACK };
      return flow.token({ grant_type: "authorization_code", ...credentials, ...bound, ...form });
    },
    refresh: (refreshToken, form) =>
      flow.token({ grant_type: "refresh_token", refresh_token: String(refreshToken), ...credentials, ...form }),
    connect: async (query, options) => {
      const callback = await goThrough(flow.authorizeUrl(query), options);
      const { status, body } = await flow.redeem(callback["code"]);
      if (status !== 200) throw new Error(`The token endpoint answered ${status}`);
      return body;
    },
  };
  return flow;
}
