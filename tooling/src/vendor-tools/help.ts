/** The `--help` text of the vendor tools. */

export const HELP = `Usage: npm run vendor -- COMMAND

Commands
  drift FILE…        compares the entries' hosts with lists of vendors that others keep
  find WORD          lists the vendors whose id, name or alias contains a word
  new --issuer URL   writes a first-class vendor's file from what its issuer publishes
  probe ID           checks, without credentials, whether a vendor still matches its entry
  try ID             a whole flow at the vendor with an app of your own, recorded for its simulator

-h, --help shows this, or after a command more about it; -v, --version the version. For contributors; no service needs these commands.`;

export const DRIFT_HELP = `Usage: npm run vendor -- drift FILE… [--json]

Compares the authorization and token endpoints of the registry's entries with copies of others' lists: Nango's providers.yaml,
grant's config/oauth.json. Prints each host that differs, unless the entry names it among the addresses that it decided against.
Sends nothing. A list may be the one that is old: look at the vendor's own pages before you change an entry.

  --json   the differences as JSON, with those that an entry explains

Exit code: 0 no host moved; 1 one did; 2 wrong arguments, or a file of another format.`;

export const FIND_HELP = `Usage: npm run vendor -- find WORD…

Lists the vendors of the registry whose id, name or alias contains the words, best matches first: id, name, on or off, other
names. A single vendor is shown with its endpoints, placeholders and sources. Sends nothing.

Exit code: 0 found; 1 nothing found; 2 wrong arguments.`;

export const NEW_HELP = `Usage: npm run vendor -- new --issuer URL [--id ID] [--name NAME]

Reads the metadata of an issuer and writes packages/oauth-core/src/registry/first-class/ID.ts. Overwrites no file.

  --issuer URL   as the metadata names it, byte for byte
  --id ID        default: from the host
  --name NAME    default: from the id
  --out FOLDER   another folder to write into
  --loopback     permits http and any port on loopback

Exit code: 0 written; 1 the metadata is not usable; 2 wrong arguments, or no answer.`;

const ABOUT_VENDOR = `  --placeholder NAME=VALUE   fills a placeholder of its endpoints; may be repeated
  --endpoint NAME=URL        another endpoint, named as in broker.yaml (token_endpoint, …); may be repeated
  --loopback                 permits http and any port on loopback`;

export const PROBE_HELP = `Usage: npm run vendor -- probe ID | --all-first-class | --all [--stale 90d]

Fetches metadata and signing keys, and checks that the broker understands how the endpoints refuse an unknown client, code and
token. Prints each difference to the entry. Registers nothing and needs no account.

  --all-first-class          every vendor with its own file
  --all                      lists the vendors that should be looked at, and sends nothing: those whose facts are that old, or where
                             something ends within that time
  --stale DAYS               with --all: how old, default 90d
  --json                     the findings as JSON
${ABOUT_VENDOR}

Exit code: 0 no drift, or nothing to look at; 1 drift, or something; 2 no drift found, but not everything could be checked, or wrong arguments.`;

export const TRY_HELP = `Usage: npm run vendor -- try ID

Connects to a vendor with an app and an account of your own: consent in your browser, code, refresh, revocation, by the functions
the broker uses. Records the form of each answer in packages/simulators/src/vendors/fixtures/ID-YYYY-MM-DD.json: status, content
type, members by name and type; no token, code, secret or personal data. Tokens are revoked at the end and never shown.

The app: VENDOR_<ID>_CLIENT_ID and VENDOR_<ID>_CLIENT_SECRET, otherwise entered at the terminal, where the secret is not shown.

  --register                 the vendor registers a client for this run (RFC 7591)
  --scope "A B"              default: those of the entry
  --resource URI             for vendors that require one (RFC 8707)
  --port N                   port of the listener on loopback; default 8790
  --redirect-uri URI         as registered, when a tunnel leads to the listener
  --timeout SECONDS          how long to wait for the browser; default 600
  --out FOLDER               another folder to write into
${ABOUT_VENDOR}

Exit code: 0 recorded; 1 cancelled, refused or no callback; 2 wrong arguments, or no answer.`;
