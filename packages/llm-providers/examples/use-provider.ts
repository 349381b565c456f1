import { createModels } from "@signalbox/llm-providers";
import { echo } from "./provider.ts";

const models = createModels({ mine: { api: "echo", baseUrl: "https://echo.test" } }, { providers: [echo] });
console.log((await models.complete("mine/parrot", "Hello.")).text);
