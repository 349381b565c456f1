// Most of what the program checks is checked once: making code of a schema first takes longer than to read by it.
import { config } from "zod";

config({ jitless: true });
