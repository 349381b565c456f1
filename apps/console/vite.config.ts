import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** The gateway that `vite` (the development server) passes requests on to. */
const gateway = process.env["SIGNALBOX_URL"] ?? "http://127.0.0.1:4747";

export default defineConfig({
  plugins: [react()],
  build: {
    target: "es2023",
    // The gateway's policy forbids inline scripts; small assets stay files, too.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { "/api": gateway, "/ws": { target: gateway, ws: true } } },
});
