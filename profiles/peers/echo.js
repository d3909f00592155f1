// Send back what comes: node echo.js 127.0.0.1:7000, or node echo.js unix:/tmp/echo.sock.

const net = require("node:net");

const server = net.createServer({ noDelay: true }, (connection) => {
    connection.on("data", (data) => connection.write(data));
    connection.on("error", () => connection.destroy());
});
const address = process.argv[2];
const at = address.lastIndexOf(":");
const [host, port] = [address.slice(0, at), address.slice(at + 1)];
server.listen({ backlog: 1024, ...(host === "unix" ? { path: port } : { host, port }) });
process.on("SIGTERM", () => process.exit(0));
