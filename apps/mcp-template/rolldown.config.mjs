// `npm run build`: the server as one file, dist/main.js, that needs nothing but Node.js.
import { bundle } from "@oauth-broker/mcp-auth/bundle";

export default bundle({ name: "The server" });
