export { connectDemo, demo, demoModel } from "./provider.ts";
