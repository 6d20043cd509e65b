import { type KmsServer, startKms } from "@oauth-broker/simulators/aws";
import { shared } from "@oauth-broker/oauth-core/testing";
import { afterAll } from "vitest";
import { kmsKeyWrapper, type KmsKeyWrapper } from "../../keys/kms.ts";

interface Options {
  readonly region?: string;
  /** Default: that of the server. */
  readonly endpoint?: string;
  readonly deadlineMs?: number;
}

/** A KMS for the tests of the file that calls it, and wrappers that are closed after them. */
export function kmsOfTests(): { readonly kms: KmsServer; wrapperOf(keyId: string, options?: Options): KmsKeyWrapper } {
  const kms = shared(startKms);
  const opened: KmsKeyWrapper[] = [];
  afterAll(() => {
    for (const wrapper of opened) wrapper.close();
  });
  return {
    kms,
    wrapperOf: (keyId, options = {}) => {
      const wrapper = kmsKeyWrapper({ keyId, endpoint: kms.endpoint, ...options });
      opened.push(wrapper);
      return wrapper;
    },
  };
}
