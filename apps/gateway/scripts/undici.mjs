// What the program uses of undici, of which the whole has mocks, caches and a `fetch` of its own, and takes three times
// the memory. The bundle has this in its place.
import api from "undici/lib/api/index.js";
import buildConnector from "undici/lib/core/connect.js";
import Agent from "undici/lib/dispatcher/agent.js";
import Dispatcher from "undici/lib/dispatcher/dispatcher.js";

Object.assign(Dispatcher.prototype, api);
const anyHost = new Agent();

function request(url, { dispatcher = anyHost, method = "GET", ...options }) {
  const { origin, pathname, search } = new URL(url);
  return dispatcher.request({ ...options, method, origin, path: `${pathname}${search}` });
}

export { Agent, buildConnector, request };
