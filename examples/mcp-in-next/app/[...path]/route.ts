/**
 * The server's paths at the root of DEPLOYMENT_URL: `/mcp`, its metadata below `/.well-known`, its
 * pages and callbacks. The app's own pages come first, because their paths are written out; the server
 * answers 404 to any other.
 */
import { openMcp } from "../../mcp.ts";

async function answer(request: Request): Promise<Response> {
  return (await openMcp()).fetch(request);
}

export {
  answer as DELETE,
  answer as GET,
  answer as HEAD,
  answer as OPTIONS,
  answer as PATCH,
  answer as POST,
  answer as PUT,
};
