import type { NextConfig } from "next";

const config: NextConfig = {
  // Loaded by Node.js as it is: it opens the store's files and sockets.
  serverExternalPackages: ["@oauth-broker/mcp-auth"],
  // An answer of the server may be a stream: compression would hold its events back.
  compress: false,
  poweredByHeader: false,
};

export default config;
