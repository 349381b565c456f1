export { demo, demoModel } from "./provider.ts";
