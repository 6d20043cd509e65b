/**
 * Before a test file that replaces modules: drops those that the file before it loaded in this
 * worker. Packages from node_modules stay loaded.
 */
import { vi } from "vitest";

vi.resetModules();
