import { testReadmeExample } from "@oauth-broker/oauth-core/testing";

testReadmeExample(import.meta.dirname);
