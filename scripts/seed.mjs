// Runs before each test file. Property tests use the same cases every time, so that a failure is reproducible. `npm run
// prove -- properties` uses other cases.
import fc from "fast-check";

const seed = Number(process.env.SIGNALBOX_SEED ?? 20_261_121);
if (!Number.isSafeInteger(seed)) throw new Error("SIGNALBOX_SEED has to be a whole number.");
fc.configureGlobal({ seed });
