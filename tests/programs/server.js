// A server at a Unix socket, with a timer; with a file: it is appended to.
const fs = require("fs");
require("http").createServer((request, response) => response.end("here\n")).listen(process.argv[2]);
setInterval(() => {
	if (process.argv[3])
		fs.appendFile(process.argv[3], "line\n", () => {});
}, 100);
console.log("ready");
