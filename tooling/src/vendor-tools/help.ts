/** What `--help` of the vendor tools says. */

export const HELP = `Usage: npm run vendor -- COMMAND

Commands
  new --issuer URL   writes a first-class vendor's file from what its issuer publishes

COMMAND --help says more. For contributors; no service needs them.`;

export const NEW_HELP = `Usage: npm run vendor -- new --issuer URL [--id ID] [--name NAME]

Reads the metadata of an issuer and writes packages/oauth-core/src/vendors/ID.ts. Overwrites no file.

  --issuer URL   as the metadata names it, byte for byte
  --id ID        default: from the host
  --name NAME    default: from the id
  --out FOLDER   another folder to write into
  --loopback     permits http and any port on loopback

Exit code: 0 written; 1 the metadata is not good; 2 wrong arguments, or nobody to be asked.`;
