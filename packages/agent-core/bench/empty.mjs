// The floor of an import: what Node.js itself takes for one module.
export {};
