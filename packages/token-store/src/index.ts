export { deriveKey, open, seal } from "./envelope.ts";
export { TokenStoreError } from "./errors.ts";
export type { TokenStoreErrorCode } from "./errors.ts";
export { localKeyWrapper } from "./keys/local.ts";
export type { LocalKeyFile, LocalKeyWrapper, LocalKeyWrapperOptions } from "./keys/local.ts";
export { memoryRecordStore } from "./records/memory.ts";
