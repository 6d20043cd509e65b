export { anyText } from "./any-text.ts";
export { describeBrokeredCode, VENDOR_ISSUER } from "./contracts/brokered-code.ts";
export type { BrokeredCodeFixture } from "./contracts/brokered-code.ts";
export { createTestAuthority } from "./network/certificates.ts";
export { listen } from "./network/listen.ts";
export { startTlsFront, type TlsFront } from "./network/tls-front.ts";
export {
  expectError,
  expectErrorRedirect,
  expectPage,
  expectRefusalShape,
  readAnswer,
  type ReadAnswer,
  REFLECTED,
} from "./expectations.ts";
export { newIdTokenKey, signIdToken } from "./id-tokens.ts";
export { fixedClock } from "./fixed-clock.ts";
export { describeKeyWrapper } from "./contracts/key-wrapper.ts";
export { describeRecordStore } from "./contracts/record-store.ts";
export { readmeBlock, testReadmeExample } from "./readme-example.ts";
export { MISFITS } from "./vendor-witnesses/misfits.ts";
export { ofEachTest, shared, temporaryFolder } from "./of-tests.ts";
export { patience, soonerThan } from "./time-limits.ts";
export { readWitnesses } from "./vendor-witnesses/witnesses.ts";
export { volume } from "./volume.ts";
export { weaken } from "./weaken.ts";
