export { type RouteCacheConformance, runRouteCacheConformance } from "./route-cache.ts";
