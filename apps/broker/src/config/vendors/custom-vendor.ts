/** The id of vendors that a request describes. It may stand in a client's list of vendors, and no entry may have it. */
export const CUSTOM_VENDOR = "custom";
