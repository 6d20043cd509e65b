/** What `token-store --help` says. docs/token-encryption.md is the long form. */
export const HELP = `Usage: token-store COMMAND [OPTIONS]

Takes a table of users' tokens from plaintext to ciphertext. docs/token-encryption.md says when to run what.

Commands
  audit            count the rows by kind; changes nothing
  migrate          seal the rows that are plaintext only, and those whose copy an older build has changed
  strip            remove the plaintext copies, also from the freed space and the log of a SQLite file; refused until
                   TOKEN_ENCRYPTION_MODE is encrypted, nobody has declared older readers, and no row is plaintext only

Options
  --issuer VENDOR=ISSUER
                   what the rows of a vendor are bound to: its issuer, or the host of its token endpoint where it has none.
                   Again for every vendor; rows of others are counted and left alone
  --rate N         rows worked on per second at most, default 100; ten times as many are looked at
  --json           JSON lines on a terminal too
  -h, --help       this text
  -v, --version    the version

audit
  --by-vendor      counts for each vendor as well
  --verify         open every sealed row through the key service; count those that do not open or whose copy differs
  --list KIND      a JSON line for each row of that kind, with its user and vendor: plaintext_only, both, ciphertext_only,
                   broken, empty, expired; with --verify also unreadable, differs

migrate, strip
  --dry-run        count what would be done; change nothing
  --checkpoint FILE
                   remember the way in this file, and go on from there. Without it a new run starts from the first row,
                   which is safe and takes longer

migrate
  --rewrap         also seal anew what is sealed under a former KMS key
  --skip-issuer-check
                   do not insist that a row sealed by a server opens with the issuer given

Environment: as for the server
  DB_TABLE_NAME, DB_TABLE_REGION
                   the table; without it the SQLite file in DATA_DIR, default ./data
  TOKEN_ENCRYPTION_KMS_KEY_ID
                   the key; needed for all but audit without --verify
  TOKEN_ENCRYPTION_MODE
                   what the servers run with, bridge or encrypted
  AWS_...          the AWS SDK's own: credentials where there is no role, AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL_KMS

Progress is a bar where stderr is a terminal, else JSON lines on stdout. The result is text on a terminal, else JSON.

Exit codes
  0                done; audit: no row is plaintext only
  1                it could not be done; stderr says why
  2                the command line is not understood
  3                plaintext is left: audit and migrate, rows that are plaintext only; strip, any token that can be read
  4                audit --verify: rows that do not open, or whose copy differs
  130, 143         interrupted by SIGINT, SIGTERM; stderr says how to go on`;
