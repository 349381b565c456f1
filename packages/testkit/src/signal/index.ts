export {
  dataEnvelope,
  type SignalEnvelopeOptions,
  type SignalPerson,
  signalPerson,
  syncEnvelope,
  textEnvelope,
} from "./envelopes.ts";
export type { SentSignalMessage } from "./messages.ts";
export { type FakeSignal, type SignalFault, type SignalOptions, startSignal } from "./server.ts";
