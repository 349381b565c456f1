export {
  type Catalogue,
  type CatalogueAccount,
  createCatalogue,
  defaultAccounts,
  type ModelOverride,
  type ResolvedModel,
} from "./catalogue.ts";
