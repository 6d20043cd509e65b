/** The first half of the published command's build; rolldown does the second. */
import { makeMaterials } from "./materials/make-materials.ts";

makeMaterials();
