// What the build takes from the vendor's SDK into this package: its long connection, one hundredth of it. In a file of
// its own, which is loaded when an account connects.
export { EventDispatcher, WSClient } from "@larksuiteoapi/node-sdk";
