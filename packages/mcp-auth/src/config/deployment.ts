/** The server's own URL, the proxies in front of it, and the hosts it may connect to. */
import { defined, Secret } from "@oauth-broker/oauth-core";
import { checkProxy } from "@oauth-broker/oauth-core/egress";
import {
  checkAllowedOrigin,
  checkCidr,
  checkListenHost,
  checkOrigin,
  isLoopbackName,
  readTracing,
} from "@oauth-broker/service/configuration";
import type { CommonSettings, Settings } from "../settings.ts";
import { isRefused, type Reader, readNumber } from "./reader.ts";
import type { VariableName } from "./variables.ts";
import { ROWS } from "./variables/rows.ts";

export type Deployment = Pick<
  CommonSettings,
  "listen" | "metricsPort" | "tracing" | "deploymentUrl" | "allowedOrigins" | "egress" | "limits"
>;

/** If its value cannot be read, no URL is refused for lack of it. */
const LOOPBACK = "EGRESS_ALLOW_LOOPBACK";

/** @param mode undefined when OAUTH_MODE is wrong: then only what every mode needs is required */
export function readDeployment(read: Reader, mode: Settings["mode"] | undefined): Deployment {
  // Byte for byte: clients compare it as the issuer.
  //= rfc8414#2
  const deploymentUrl = read.text("DEPLOYMENT_URL", checkOrigin);
  if (mode === "hosted" && read.value("DEPLOYMENT_URL") === undefined) {
    read.refuse("DEPLOYMENT_URL", "is missing: in hosted mode it is the issuer");
  }
  const host = (read.text("HOST", checkListenHost) ?? ROWS.HOST.default).replace(/^\[(.*)\]$/, "$1");
  const port = readNumber(read, "PORT");
  const [maxConnections, idleSeconds] = [readNumber(read, "MAX_CONNECTIONS"), readNumber(read, "IDLE_SECONDS")];
  const allowLoopback = read.flag(LOOPBACK) || isRefused(read, LOOPBACK);
  const deployment = {
    listen: { host, port, maxConnections, idleSeconds },
    metricsPort: readMetricsPort(read, port),
    tracing: readTracing(read),
    deploymentUrl,
    allowedOrigins: read.list("ALLOWED_ORIGINS", checkAllowedOrigin),
    egress: {
      allowLoopback,
      allowCidrs: read.list("EGRESS_ALLOW_CIDRS", checkCidr),
      ...defined({ proxy: Secret.of(read.secret("EGRESS_PROXY", checkProxy)) }),
    },
    limits: {
      requestsPerMinute: readNumber(read, "LIMITS_REQUESTS_PER_MINUTE"),
      registrationsPerMinute: readNumber(read, "LIMITS_REGISTRATIONS_PER_MINUTE"),
      refusedTokensPerMinute: readNumber(read, "LIMITS_REFUSED_TOKENS_PER_MINUTE"),
      trustedProxies: read.list("TRUSTED_PROXIES", checkCidr),
    },
  };
  warnOfOpenness(read, deployment);
  return deployment;
}

function readMetricsPort(read: Reader, port: number): number | undefined {
  const metricsPort = read.integer("METRICS_PORT", ROWS.METRICS_PORT.range);
  if (metricsPort !== undefined && metricsPort !== 0 && metricsPort === port) {
    read.refuse("METRICS_PORT", "must be another port than PORT");
  }
  return metricsPort;
}

function warnOfOpenness(read: Reader, { listen, deploymentUrl, egress, limits }: Deployment): void {
  const isPublic = deploymentUrl !== undefined && !isLoopbackName(new URL(deploymentUrl).hostname);
  if (egress.allowLoopback && isPublic) {
    read.warn("EGRESS_ALLOW_LOOPBACK is on although DEPLOYMENT_URL is public: it is for tests and sandboxes");
  }
  if (deploymentUrl === undefined && !isLoopbackName(listen.host)) {
    read.warn("HOST can be reached by others and DEPLOYMENT_URL is not set: requests under any host name are answered");
  }
  if (isPublic && deploymentUrl.startsWith("https:") && limits.trustedProxies.length === 0) {
    read.warn(
      "TRUSTED_PROXIES is not set although DEPLOYMENT_URL is https, which a proxy in front must end: all callers then share its address, and the limits of one",
    );
  }
  const networks: readonly (readonly [VariableName, readonly string[]])[] = [
    ["EGRESS_ALLOW_CIDRS", egress.allowCidrs],
    ["TRUSTED_PROXIES", limits.trustedProxies],
  ];
  for (const [name, cidrs] of networks) {
    if (cidrs.some((cidr) => cidr.endsWith("/0")))
      read.warn(`${name} holds a network of every address: name the networks you mean`);
  }
}
