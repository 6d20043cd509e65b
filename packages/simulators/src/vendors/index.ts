export type {
  RecordedVendorRequest,
  RefusalPoint,
  SimulatedClient,
  SimulatorOptions,
  VendorSimulator,
} from "./base/simulator.ts";
