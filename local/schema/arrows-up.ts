// Lists the uses of later folders that are allowed in files of sql/, each with the number of uses and the
// reason. arrows.ts fails on all other uses, and if a number is different.

export type Exception = { from: string; to: string; what: Record<string, number>; why: string }

export type Exceptions = { calls: Exception[]; tables: Exception[] }

const locks =
  'A change of state takes all its locks in one function, so that their order can be read ' +
  '(03_accounts/2_rules_locks.sql).'

export const exceptions: Exceptions = {
  calls: [
    {
      from: '03_accounts',
      to: '06_properties',
      what: { 'private.suspend_unproven_past': 2 },
      why: 'An account is taken over step by step in one transaction: access ends, listings are ' +
        'paused, the owner is told. A trigger would not know which proof of an email is a takeover.',
    },
    {
      from: '03_accounts',
      to: '09_media',
      what: { 'private.change_avatar': 1 },
      why: 'A profile edit changes name, language and picture together, or none of them.',
    },
    {
      from: '03_accounts',
      to: '10_chat',
      what: { 'private.count_unread_messages': 1 },
      why: 'The account of a session shows which of its identities have unread messages.',
    },
    {
      from: '03_accounts',
      to: '11_admin',
      what: { 'private.is_admin': 1, 'private.lock_admins_with': 1 },
      why: `${locks} While the service is closed for maintenance, administrators go on.`,
    },
    {
      from: '03_accounts',
      to: '13_notifications',
      what: { 'private.lock_devices': 1 },
      why: locks,
    },
    {
      from: '04_organisations',
      to: '09_media',
      what: { 'private.with_pictures': 1 },
      why: 'A page edit changes texts and pictures together, or none of them. Pictures are on a ' +
        'later floor because most of them belong to listings.',
    },
    {
      from: '06_properties',
      to: '09_media',
      what: { 'private.attach_upload_session': 1, 'private.decide_pictures': 1 },
      why: 'A listing is saved with its pictures, or not at all. Which pictures it may have is ' +
        'checked while it is locked.',
    },
    {
      from: '06_properties',
      to: '10_chat',
      what: { 'private.open_conversation': 1 },
      why: 'A person who asks for a chat gets the conversation in the same call.',
    },
    {
      from: '10_chat',
      to: '13_notifications',
      what: { 'private.notify_of_messages': 1 },
      why: 'The broadcast of a message includes its notification, so the id has to come back; ' +
        'private.notify returns none.',
    },
  ],
  tables: [
    {
      from: '03_accounts',
      to: '04_organisations',
      what: { 'public.organisations': 2, 'private.review_totals': 1 },
      why: `${locks} The record of an organisation includes the fields of its page.`,
    },
    {
      from: '03_accounts',
      to: '06_properties',
      what: { 'public.properties': 2, 'private.property_counters': 1 },
      why: `${locks} When a person loses an email, the listings that go with it are counted.`,
    },
    { from: '03_accounts', to: '07_favorites', what: { 'public.favorites': 1 }, why: locks },
    {
      from: '03_accounts',
      to: '10_chat',
      what: { 'public.conversations': 1, 'public.participants': 1 },
      why: locks,
    },
    {
      from: '03_accounts',
      to: '11_admin',
      what: { 'public.admins': 1, 'public.reports': 1 },
      why: `${locks} While the service is closed for maintenance, administrators sign in.`,
    },
    { from: '03_accounts', to: '12_reviews', what: { 'public.reviews': 5 }, why: locks },
    {
      from: '03_accounts',
      to: '13_notifications',
      what: {
        'public.notifications': 3,
        'public.devices': 1,
        'private.notification_events': 3,
      },
      why: `${locks} Sessions are shown with their devices, and a sign-in that was already ` +
        'reported is not reported again.',
    },
    {
      from: '04_organisations',
      to: '10_chat',
      what: { 'public.participants': 1, 'public.messages': 1 },
      why: 'The response time of an identity is measured in its conversations, and shown on the ' +
        'pages of organisations and people.',
    },
    {
      from: '04_organisations',
      to: '09_media',
      what: { 'public.documents': 1 },
      why: 'A licence lasts a week longer while its renewal waits, if the paper was sent in time.',
    },
    {
      from: '05_billing',
      to: '06_properties',
      what: { 'public.properties': 6 },
      why: 'A quota limits the number of listings, so it counts them.',
    },
    {
      from: '06_properties',
      to: '07_favorites',
      what: { 'public.favorites': 3 },
      why: 'Records and cards say whether the reader has saved the listing.',
    },
    {
      from: '06_properties',
      to: '09_media',
      what: { 'public.media': 5 },
      why:
        'Records and cards show pictures, listings are compared by them, and the row of a deleted listing stays until its ' +
        'pictures are gone.',
    },
    {
      from: '06_properties',
      to: '10_chat',
      what: { 'public.conversations': 2 },
      why: 'Conversations outlive a deleted listing. They are locked and lose their reference ' +
        'before its row is deleted; the foreign key would lock them after the listing.',
    },
    {
      from: '06_properties',
      to: '11_admin',
      what: { 'public.reports': 1 },
      why: 'A deleted listing stays while a report of it is open.',
    },
    {
      from: '08_reading',
      to: '08_search',
      what: { 'private.search_vocabulary': 1 },
      why: 'A word that listings have is searched as it is, and not read as two that are listed.',
    },
    {
      from: '09_media',
      to: '10_chat',
      what: { 'public.messages': 1 },
      why: 'The row of a removed picture stays while a message shows it.',
    },
    {
      from: '09_media',
      to: '11_admin',
      what: { 'public.reports': 1 },
      why: 'The file of a discarded picture stays while a report keeps it.',
    },
    {
      from: '10_chat',
      to: '13_notifications',
      what: { 'private.notification_events': 1 },
      why: 'A session whose tokens were never given out ends without a notification of a sign-in.',
    },
    {
      from: '11_admin',
      to: '12_reviews',
      what: { 'public.reviews': 6 },
      why: 'Administrators decide about reviews, as about everything else that can be reported.',
    },
  ],
}
