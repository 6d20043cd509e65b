// oidc-provider ships no types. Only what openid-provider.ts and vendor-requests.ts touch is
// declared here.
declare module "oidc-provider/lib/adapters/memory_adapter.js" {
  /** Expiry is not checked here: the provider checks `exp` of every record. */
  const MemoryAdapter: new (model: string, store: Map<string, unknown>) => object;
  export default MemoryAdapter;
}

declare module "oidc-provider/lib/provider.js" {
  import type { EventEmitter } from "node:events";
  import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";

  export interface Interaction {
    readonly uid: string;
    readonly jti: string;
    readonly params: Readonly<Record<string, string | undefined>>;
    readonly prompt: { readonly name: string; readonly details: { readonly missingOIDCScope?: readonly string[] } };
    readonly session?: { readonly accountId: string };
    readonly grantId?: string;
  }

  export interface Grant {
    addOIDCScope(scope: string): void;
    save(): Promise<string>;
  }

  export interface ProviderClient {
    readonly clientId: string;
    readonly clientName?: string;
    grantTypeAllowed(grantType: string): boolean;
  }

  export type InteractionResult =
    | { readonly login?: { readonly accountId: string }; readonly consent?: { readonly grantId: string } }
    | { readonly error: string; readonly error_description: string };

  export interface ProviderContext {
    readonly req: IncomingMessage;
    readonly res: ServerResponse;
    readonly method: string;
    readonly path: string;
    readonly querystring: string;
    status: number;
    type: string;
    body: unknown;
    respond: boolean;
    set(headers: Readonly<Record<string, string>>): void;
    /** Set on the provider's own routes only, once its router has run. */
    readonly oidc?: { readonly body?: Readonly<Record<string, unknown>> };
  }

  export class Provider extends EventEmitter {
    constructor(issuer: string, configuration: Readonly<Record<string, unknown>>);
    callback(): RequestListener;
    use(middleware: (context: ProviderContext, next: () => Promise<void>) => Promise<void>): this;
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
    interactionResult(
      request: IncomingMessage,
      response: ServerResponse,
      result: InteractionResult,
      options?: { readonly mergeWithLastSubmission?: boolean },
    ): Promise<string>;
    readonly Client: { find(clientId: string): Promise<ProviderClient | undefined> };
    readonly Grant: {
      new (properties: { readonly accountId: string; readonly clientId: string }): Grant;
      find(grantId: string): Promise<Grant | undefined>;
    };
  }
}
