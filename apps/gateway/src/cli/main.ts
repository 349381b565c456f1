#!/usr/bin/env node
import { enableCompileCache } from "node:module";

// Compiled code is kept between starts; this must come before anything large is imported.
enableCompileCache();
const { runCli } = await import("./program.ts");
await runCli(process.argv);
