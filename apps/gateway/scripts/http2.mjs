// What the server's adapter asks of `node:http2`. This program serves no HTTP/2, which takes 5 ms to load.
export class Http2ServerRequest {}
export const constants = {};
