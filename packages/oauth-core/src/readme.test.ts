import { testReadmeExample } from "./testing/readme-example.ts";

testReadmeExample(import.meta.dirname);
