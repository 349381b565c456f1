/** `npm run prove -- import [megabytes] [events]`: imports a home of 1 GB with 50,000 events. */
import { proveLargeHome } from "./large-home.ts";

const [megabytes = 1_000, events = 50_000] = process.argv.slice(2).map(Number);
const figures = await proveLargeHome({ megabytes, events });
console.log(
  `${megabytes} MB, ${events} events: ${figures.seconds.toFixed(1)} s, at most ${Math.round(figures.megabytes)} MB of memory, ${figures.sessions} conversations`,
);
const isBroken =
  figures.seconds > 60 || figures.megabytes > 200 || figures.sessions < Math.ceil(events / 500);
if (isBroken) console.log("broken: at most 60 s and 200 MB, and every conversation");
process.exitCode = isBroken ? 1 : 0;
