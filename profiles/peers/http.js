// Send as many bytes as the path says, /1024 for 1 KiB: node http.js 127.0.0.1:7000.

const http = require("node:http");

const LARGEST = 1 << 20;
const bodies = new Map();

function bodyOf(size) {
    if (!bodies.has(size)) {
        if (bodies.size === 16) bodies.clear();
        bodies.set(size, Buffer.alloc(size, "x"));
    }
    return bodies.get(size);
}

const server = http.createServer((request, response) => {
    const path = /^\/([1-9][0-9]{0,6})$/.exec(request.url);
    const found = path !== null && Number(path[1]) <= LARGEST;
    const body = found ? bodyOf(Number(path[1])) : "ask for a size in bytes, as in /1024\n";
    const headers = { "Content-Type": "text/plain", "Content-Length": body.length };
    response.writeHead(found ? 200 : 404, headers);
    response.end(body);
});
const address = process.argv[2];
const at = address.lastIndexOf(":");
server.listen({ host: address.slice(0, at), port: address.slice(at + 1), backlog: 1024 });
process.on("SIGTERM", () => process.exit(0));
