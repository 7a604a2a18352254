// The result types of Data API functions. Each is the response of the operation with the same name.
import type { operations } from './openapi.ts'
import type { Answered, Schemas } from './operations.ts'

type AnswerOf<Name extends keyof operations> = Answered<operations[Name]>
type Receipt = Schemas['Receipt']['receipt']

/** Functions without such an operation, and functions whose result the facade converts. */
type Others = {
  act_on_property: Schemas['Property']
  charge_invoice: unknown
  create_conversation: { created: boolean; conversation: Schemas['Conversation'] }
  get_organisation: AnswerOf<'get_company' | 'get_office'>
  get_organisation_profile: AnswerOf<'get_company_profile' | 'get_office_profile'>
  get_organisation_stats: AnswerOf<'get_company_stats' | 'get_office_stats'>
  get_receipt: Pick<Receipt, 'payer' | 'refunds'> & { receipt: Omit<Receipt, 'payer' | 'refunds'> }
  list_organisation_leads: AnswerOf<'list_company_leads' | 'list_office_leads'>
  list_organisation_listings: AnswerOf<'list_company_listings' | 'list_office_listings'>
  list_organisations: AnswerOf<'list_companies' | 'list_offices'>
  send_message: { created: boolean; message: Schemas['Message'] }
  update_organisation_profile: AnswerOf<'update_company_profile' | 'update_office_profile'>
  upload_documents: unknown
  upload_listing_media: unknown
}

export type Gives<Name extends string> = Name extends keyof Others ? Others[Name]
  : Name extends keyof operations ? AnswerOf<Name>
  : unknown
