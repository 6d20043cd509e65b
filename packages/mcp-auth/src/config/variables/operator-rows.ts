/** What the pages say of who runs the server. */
const LINK = "https URL of at most 2048 characters";

export const OPERATOR_VARIABLES = [
  {
    name: "SERVER_NAME",
    type: "text of at most 80 characters, without control characters and those that turn its direction",
    description: "Who runs this server, as its pages show it.",
    example: "Acme Corp",
    default: "the server's title, else its name",
  },
  {
    name: "SERVER_WEBSITE",
    type: LINK,
    description: "The operator's website, linked from the pages.",
    example: "https://www.example.com",
  },
  {
    name: "SERVER_PRIVACY",
    type: LINK,
    description: "The operator's privacy notice, linked from the pages.",
    example: "https://www.example.com/privacy",
  },
  {
    name: "SERVER_TERMS",
    type: LINK,
    description: "The operator's terms of use, linked from the pages.",
    example: "https://www.example.com/terms",
  },
  {
    name: "SERVER_ICON",
    type: "path of a PNG, ICO or WebP file of at most 64 KiB",
    description:
      "The icon beside the name and at `/favicon.ico`. What it is, its first bytes say; SVG is refused. Read once at start.",
    example: "./icon.png",
    default: "none",
  },
  {
    name: "SERVER_LANGUAGE",
    choices: ["en", "de"],
    description: "The language of the pages: English or German.",
    example: "de",
    default: "en",
  },
] as const;
