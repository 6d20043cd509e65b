/** What `--help` of the vendor tools says. */

export const HELP = `Usage: npm run vendor -- COMMAND

Commands
  new --issuer URL   writes a first-class vendor's file from what its issuer publishes
  probe ID           asks a vendor, without credentials, whether it still is what its entry says

COMMAND --help says more. For contributors; no service needs them.`;

export const NEW_HELP = `Usage: npm run vendor -- new --issuer URL [--id ID] [--name NAME]

Reads the metadata of an issuer and writes packages/oauth-core/src/vendors/ID.ts. Overwrites no file.

  --issuer URL   as the metadata names it, byte for byte
  --id ID        default: from the host
  --name NAME    default: from the id
  --out FOLDER   another folder to write into
  --loopback     permits http and any port on loopback

Exit code: 0 written; 1 the metadata is not good; 2 wrong arguments, or nobody to be asked.`;

const ABOUT_VENDOR = `  --placeholder NAME=VALUE   fills a placeholder of its endpoints; may be repeated
  --endpoint NAME=URL        another endpoint, named as in broker.yaml (token_endpoint, …); may be repeated
  --loopback                 permits http and any port on loopback`;

export const PROBE_HELP = `Usage: npm run vendor -- probe ID | --all-first-class

Asks for metadata and signing keys, and whether its endpoints answer a client, a code and a token that never were in a way the
broker understands. Prints each difference to the entry. Registers nothing and needs no account.

  --all-first-class          every vendor with a file of its own
  --json                     the findings as JSON
${ABOUT_VENDOR}

Exit code: 0 no drift; 1 drift; 2 no drift found, but not everything could be asked, or wrong arguments.`;
