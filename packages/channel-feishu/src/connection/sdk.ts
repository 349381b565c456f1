// The parts of the vendor's SDK that the build bundles into this package: its long connection, about one percent of the
// SDK. In a separate file, so that it is loaded only when an account connects.
export { EventDispatcher, WSClient } from "@larksuiteoapi/node-sdk";
