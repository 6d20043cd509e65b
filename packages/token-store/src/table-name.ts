/** What names a table and its region: both are read from settings, before any request. */

const TABLE = /^[A-Za-z0-9_.-]{3,255}$/;
const REGION = /^[a-z]{2,8}(?:-[a-z]{2,12})+-\d{1,2}$/;

/** Whether DynamoDB takes it as a table's name: 3 to 255 of `A-Z a-z 0-9 . _ -`. */
export function isTableName(text: string): boolean {
  return TABLE.test(text);
}

/** Whether a region of AWS may be called so: `eu-west-1`, `us-gov-east-1`, `eusc-de-east-1`. */
export function isRegionName(text: string): boolean {
  return REGION.test(text);
}
