import { temporaryFolder, testReadmeExample } from "@oauth-broker/oauth-core/testing";

testReadmeExample(import.meta.dirname, () => ({ DATA_DIR: temporaryFolder() }));
