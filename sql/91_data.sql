-- The script may run twice and keeps an admin's changes.
set edits.by = 'release';

-- Rates (contract, section 1). A million or more means no limit.
insert into private.rates (rule, max, seconds, note) values
  ('register_address', 600, 3600,
    'registrations per client address; one that is answered phone_taken or email_taken counts as five'),
  ('proof_first', 20, 86400,
    'accounts registered by email per address that have proven nothing yet; those beyond prove something first'),
  ('login_identifier', 10, 900, 'failed sign-ins per identifier and address'),
  ('login_address', 300, 900, 'failed sign-ins per address, of identifiers that do not know it'),
  ('login_unknown_all', 100, 3600,
    'failed sign-ins per identifier, from all addresses together that its account does not know'),
  ('login_unknown', 1, 3600, 'above that: sign-ins tried per identifier and such address'),
  ('login_returned', 20, 900,
    'sign-ins per identifier and address that are no failures because Auth was away'),
  ('login_returned_address', 200, 900, 'the same per address'),
  ('sign_ins', 60, 3600, 'sign-ins that succeed per account'),
  ('refreshes', 60, 3600, 'refresh tokens of a session that Auth keeps as rows (version 1)'),
  ('code_unsent_address', 300, 3600, 'codes requested per address that nobody could be sent'),
  ('code_used', 1, 86400, 'codes used per phone or email that earn more codes for an address'),
  ('code_used_address', 200, 86400,
    'not a limit: how many of these are remembered per address, those of SMS and mail apart'),
  ('code_known_hour', 5, 3600, 'codes sent per phone or email and address that its account knows'),
  ('code_known_day', 10, 86400, 'codes sent per phone or email and address that its account knows'),
  ('code_unknown_hour', 2, 3600, 'codes sent per phone or email and other address'),
  ('code_unknown_day', 4, 86400, 'codes sent per phone or email and other address'),
  ('code_unknown_all_hour', 6, 3600, 'codes sent per phone or email for all other addresses'),
  ('code_unknown_all_day', 10, 86400, 'codes sent per phone or email for all other addresses'),
  ('code_another_hour', 3, 3600,
    'of these, codes that accounts ask for to a phone or email of another; the rest is kept for who registers or resets with it'),
  ('code_another_day', 5, 86400, 'the same in a day'),
  ('code_service', 300, 60, 'codes sent by the whole service'),
  ('code_alarm', 1, 3600, 'alarms that the service sends four fifths of the codes it may'),
  ('code_wrong_identifier', 10, 3600, 'wrong codes per phone or email and address'),
  ('code_wrong_address', 200, 3600,
    'wrong codes per address; of attempts that are not named once it is used up'),
  ('admin_deletions', 20, 86400,
    'accounts deleted by one administrator by routes; each further so many need a new proof'),
  ('admin_identifiers', 20, 86400,
    'phones and emails set by one administrator by routes; each further so many need a new proof'),
  ('admin_locks', 50, 86400,
    'accounts suspended and banned by one administrator by routes; each further so many need a new proof'),
  ('admin_refunds', 500, 86400,
    'dinars refunded by one administrator by routes; each further so many need a new proof'),
  ('favorites', 120, 60, 'favorite toggles per account'),
  ('messages', 60, 60, 'chat messages per account'),
  ('messages_day', 2000, 86400, 'chat messages per account, in a day'),
  ('messages_unanswered', 5, 86400,
    'not in a time but at a time: messages of one side of a conversation whose other side has not answered'),
  ('drafts', 50, 86400,
    'not in a time but at a time: drafts of an identity; where its plan shows more, twice as many as that'),
  ('listings', 300, 3600, 'listings created per account'),
  ('listing_edits', 1200, 3600,
    'changes of listings per account: their fields, pictures and auction, and acts that publish none'),
  ('listing_deletions', 300, 3600, 'listings deleted per account'),
  ('publications', 60, 3600,
    'listings published, renewed or resumed per account; where its plan shows more, as many'),
  ('price_changes', 30, 86400,
    'changes of the price that a listing shows, by its owner; its other fields may still be changed'),
  ('first_publications', 10, 86400,
    'listings published for the first time per account, beyond twice as many as its plan shows'),
  ('feed_places', 1, 600,
    'places in the feed per account: a listing that is published for the first time stands so much later than the last'),
  ('feed_places_unproven', 1, 3600, 'of these, places of an account without a proven phone or email'),
  ('pushes_messages', 60, 3600,
    'pushes of messages from the acts of one account to another; in the list they still stand'),
  ('pushes_strangers', 10, 3600,
    'pushes per account of messages from accounts that have proven nothing and first wrote to it within that time'),
  ('pushes_waiting', 1, 3600, 'pushes per account that say how many more of these wait in the list'),
  ('pushes', 10, 86400,
    'pushes of everything else from the acts of one account to another; in the list they still stand'),
  ('uploads', 60, 3600, 'uploads per account, each of up to 20 pictures or 5 documents'),
  ('document_deletions', 60, 3600, 'documents removed per account'),
  ('profile', 60, 3600, 'changes of name, settings, password and own pages per account'),
  ('switches', 120, 3600, 'switches of the acting identity per account'),
  ('identities', 5, 86400, 'companies and offices asked for per account'),
  ('identities_waiting', 3, 86400,
    'not in a time but at a time: companies and offices of an account that wait for an admin'),
  ('sessions', 100, 86400,
    'not in a time but at a time: sessions of an account; the least recently used end'),
  ('blocks_kept', 500, 86400, 'not in a time but at a time: identities that an account has blocked'),
  ('blocks', 60, 3600, 'blocks made and lifted per account'),
  ('devices', 60, 3600, 'devices registered and removed per account'),
  ('reads', 240, 60, 'conversations and notifications marked as read, muted, archived or deleted, per account'),
  ('reviews', 10, 86400, 'reviews written per account'),
  ('review_edits', 60, 3600, 'reviews changed, deleted and replied to per account'),
  ('subscriptions', 10, 3600, 'plans bought and cancelled per account'),
  ('topups', 10, 3600, 'top-ups asked for per account'),
  ('topups_open', 5, 86400,
    'not in a time but at a time: top-ups of an account that are not paid and not over'),
  ('charges', 60, 3600, 'payments begun at a provider per account'),
  ('reports', 30, 86400, 'reports to the admins per account'),
  ('contact_changes', 5, 86400, 'changes of phone or email that an account begins'),
  ('export', 5, 86400, 'exports of all that an account owns, per account'),
  ('contact', 30, 86400, 'numbers asked for per account'),
  ('contact_unproven', 5, 86400,
    'of these, numbers asked for by an account without a proven phone or email'),
  ('contact_unproven_address', 30, 3600,
    'numbers asked for per address, by accounts without a proven phone or email'),
  ('conversations', 60, 86400,
    'conversations opened anew per account that the other side has not answered'),
  ('conversations_unproven', 5, 86400,
    'of these, conversations of an account without a proven phone or email')
on conflict (rule) do update set
  max = excluded.max, seconds = excluded.seconds, note = excluded.note;
insert into private.rates (rule, max, seconds, note, earned_by, earns, most) values
  ('code_address', 10, 3600,
    'codes sent per address that the account does not know, those of SMS and mail apart',
    'code_used_address', 3, 600)
on conflict (rule) do update set
  max = excluded.max, seconds = excluded.seconds, note = excluded.note,
  earned_by = excluded.earned_by, earns = excluded.earns, most = excluded.most;

insert into private.settings (name, value, note) values
  ('review_listings', 'false', 'true: listings wait for an admin before everybody sees them'),
  ('find_duplicates', '"on"',
    '"on": a listing that repeats an active one of the same identity is refused, and admins see which '
    'ones repeat others with the same picture. "off": neither'),
  ('seller', '{"nameAr":"سوق العقار الكويتي","nameEn":"Kuwait Property Market","registrationNo":"",'
    '"addressAr":"مدينة الكويت","phone":"","email":""}',
    'who sells: on every receipt from then on'),
  ('reserved_names', '{"everybody":["تنبيه","سوق العقار","Kuwait Property"],"people":["إدارة","دعم",'
    '"خدمة العملاء","خدمة الزبائن","فريق العمل","admin","administrator","administration",'
    '"moderator","support","customer service","help desk","system","official"]}',
    'words that no name holds, in any spelling: those of people alone may stand in names of companies '
    'and offices, which an admin verifies. The names of seller are reserved by themselves'),
  ('app', '{"minVersion":{"ios":null,"android":null,"web":null},"storeUrl":{"ios":null,"android":null},'
    '"privacyUrl":null,"support":{"phone":null,"email":null,"whatsapp":null}}',
    'what apps ask before anything else (GET /meta/app); null where nothing is said'),
  ('terms', 'null', 'what people accept: version, url, requiredFrom (the first day on which who has not '
    'is refused, 14 days ahead); null for nothing. A new version is told to everybody')
on conflict (name) do nothing;

-- Plans (contract, section 7).
insert into public.plans
  (id, code, name_ar, name_en, audience, price, interval_days, active_listings, listing_days,
    photos_per_listing, position) values
  ('7a0f3a52-58d4-4f2c-9d7e-0c1b6b1f0001', 'free', 'الباقة المجانية', 'Free',
    'individual', 0.000, 30, 5, 30, 10, 1),
  ('7a0f3a52-58d4-4f2c-9d7e-0c1b6b1f0002', 'plus', 'باقة بلس', 'Plus',
    'individual', 5.000, 30, 10, 60, 20, 2),
  ('7a0f3a52-58d4-4f2c-9d7e-0c1b6b1f0003', 'office', 'باقة المكاتب', 'Office',
    'office', 25.000, 30, 60, 60, 30, 3),
  ('7a0f3a52-58d4-4f2c-9d7e-0c1b6b1f0004', 'company', 'باقة الشركات', 'Company',
    'company', 60.000, 30, 250, 90, 40, 4)
on conflict do nothing;

-- The edge functions set these, because they know the URLs and whether codes can be sent.
insert into private.settings (name, value, note) values
  ('files_url', '""', 'where public files are read; kept by the functions'),
  ('codes_are_sent', 'false', 'whether a code can be sent by SMS or mail; kept by the functions'),
  ('share_url', 'null', 'where listings are passed on, with {refNo}; kept by the functions')
on conflict (name) do nothing;

-- Anyone with the URL of a picture can read it, but nobody can guess or list URLs. Storage checks
-- the size only of an upload that states its length. Our functions send files in pieces without a
-- length, so the limits are those of functions/api/media/upload-*.ts. Storage sends no `nosniff`
-- header, but a picture's content always matches its type, because the functions made the file.
insert into storage.buckets (id, name, public, file_size_limit, allowed_mime_types) values
  ('avatars', 'avatars', true, 5242880, '{image/jpeg,image/png,image/webp}'),
  ('listings', 'listings', true, 10485760, '{image/jpeg,image/png,image/webp}'),
  -- Only the edge functions read this bucket, after the database has allowed the read.
  ('documents', 'documents', false, 10485760,
    '{image/jpeg,image/png,image/webp,application/pdf}')
on conflict (id) do update set
  public = excluded.public, file_size_limit = excluded.file_size_limit,
  allowed_mime_types = excluded.allowed_mime_types;

insert into public.wallets (id, part, system_account) values
  ('7a0f3a52-58d4-4f2c-9d7e-0c1b6b1f1001', 'system', 'provider'),
  ('7a0f3a52-58d4-4f2c-9d7e-0c1b6b1f1002', 'system', 'sales'),
  ('7a0f3a52-58d4-4f2c-9d7e-0c1b6b1f1003', 'system', 'adjustments'),
  ('7a0f3a52-58d4-4f2c-9d7e-0c1b6b1f1004', 'system', 'payouts')
on conflict do nothing;

insert into public.vocabularies (vocabulary, code, text_ar, text_en, note, position) values
  ('kind', 'apartment', 'شقة', 'Apartment', 'RENT, SALE', 1),
  ('kind', 'floor', 'دور', 'Floor', 'RENT, SALE', 2),
  ('kind', 'house', 'بيت', 'House', 'SALE, RENT, EXCHANGE', 3),
  ('kind', 'villa', 'فيلا', 'Villa', 'SALE, RENT, EXCHANGE', 4),
  ('kind', 'gov_house', 'بيت حكومي', 'Government house', 'EXCHANGE, SALE', 5),
  ('kind', 'residential_plot', 'قسيمة سكنية', 'Residential plot', 'SALE, EXCHANGE', 6),
  ('kind', 'land', 'أرض', 'Land', 'SALE, EXCHANGE', 7),
  ('kind', 'building', 'عمارة', 'Building', 'SALE, RENT', 8),
  ('kind', 'investment_building', 'عمارة استثمارية', 'Investment building', 'SALE', 9),
  ('kind', 'commercial_complex', 'مجمع تجاري', 'Commercial complex', 'SALE, RENT', 10),
  ('kind', 'chalet', 'شاليه', 'Chalet', 'SALE, RENT', 11),
  ('kind', 'farm', 'مزرعة', 'Farm', 'SALE, RENT, EXCHANGE', 12),
  ('kind', 'istiraha', 'استراحة', 'Rest house', 'RENT, SALE', 13),
  ('kind', 'stable', 'جاخور', 'Stable', 'SALE, RENT', 14),
  ('kind', 'office', 'مكتب', 'Office', 'RENT, SALE', 15),
  ('kind', 'shop', 'محل', 'Shop', 'RENT, SALE', 16),
  ('kind', 'showroom', 'معرض', 'Showroom', 'RENT', 17),
  ('kind', 'warehouse', 'مخزن', 'Warehouse', 'RENT, SALE', 18),
  ('kind', 'industrial_plot', 'قسيمة صناعية', 'Industrial plot', 'SALE, RENT', 19),
  ('kind', 'studio', 'استوديو', 'Studio', 'RENT', 20),
  ('kind', 'annex', 'ملحق', 'Annex', 'RENT', 21),
  ('kind', 'basement', 'سرداب', 'Basement', 'RENT', 22),
  ('kind', 'camp', 'مخيم', 'Camp', 'RENT', 23),
  ('kind', 'parking', 'موقف', 'Parking', 'RENT', 24),
  ('usage', 'residential_private', 'سكن خاص', 'Private residential', null, 1),
  ('usage', 'investment', 'استثماري', 'Investment', null, 2),
  ('usage', 'commercial', 'تجاري', 'Commercial', null, 3),
  ('usage', 'industrial', 'صناعي', 'Industrial', null, 4),
  ('usage', 'agricultural', 'زراعي', 'Agricultural', null, 5),
  ('usage', 'coastal', 'ساحلي', 'Coastal', null, 6),
  ('plot_position', 'one_street', 'شارع واحد', 'One street', null, 1),
  ('plot_position', 'corner', 'زاوية', 'Corner', null, 2),
  ('plot_position', 'two_streets', 'شارعين', 'Two streets', null, 3),
  ('plot_position', 'front_back', 'بطن وظهر', 'Front and back', null, 4),
  ('plot_position', 'street_alley', 'شارع وسكة', 'Street and alley', null, 5),
  ('plot_position', 'head_three_sides', 'رأس', 'Head (three sides)', null, 6),
  ('plot_position', 'on_square', 'على ساحة', 'On a square', null, 7),
  ('finishing', 'normal', 'عادي', 'Normal', null, 1),
  ('finishing', 'deluxe', 'ديلوكس', 'Deluxe', null, 2),
  ('finishing', 'super_deluxe', 'سوبر ديلوكس', 'Super deluxe', null, 3),
  ('finishing', 'shell', 'هيكل أسود', 'Shell', null, 4),
  ('finishing', 'demolition', 'هدام', 'For demolition', null, 5),
  ('furnished', 'none', 'غير مفروش', 'Unfurnished', null, 1),
  ('furnished', 'partial', 'مفروش جزئياً', 'Partly furnished', null, 2),
  ('furnished', 'full', 'مفروش', 'Furnished', null, 3),
  ('document_type', 'free_deed', 'وثيقة حرة', 'Free deed', null, 1),
  ('document_type', 'government', 'وثيقة حكومية', 'Government deed', null, 2),
  ('document_type', 'credit_bank', 'بنك الائتمان', 'Credit bank', null, 3),
  ('document_type', 'usufruct', 'حق انتفاع', 'Usufruct', null, 4),
  ('document_type', 'power_of_attorney', 'وكالة', 'Power of attorney', null, 5),
  ('document_type', 'other', 'أخرى', 'Other', null, 6),
  ('amenity', 'elevator', 'مصعد', 'Elevator', null, 1),
  ('amenity', 'central_ac', 'تكييف مركزي', 'Central air conditioning', null, 2),
  ('amenity', 'diwaniya', 'ديوانية', 'Diwaniya', null, 3),
  ('amenity', 'basement', 'سرداب', 'Basement', null, 4),
  ('amenity', 'pool', 'مسبح', 'Pool', null, 5),
  ('amenity', 'garden', 'حديقة', 'Garden', null, 6),
  ('amenity', 'balcony', 'بلكونة', 'Balcony', null, 7),
  ('amenity', 'sea_view', 'إطلالة بحرية', 'Sea view', null, 8),
  ('amenity', 'security', 'حراسة', 'Security', null, 9),
  ('amenity', 'maid_room', 'غرفة خادمة', 'Maid''s room', null, 10),
  ('amenity', 'driver_room', 'غرفة سائق', 'Driver''s room', null, 11),
  ('amenity', 'covered_parking', 'مواقف مظللة', 'Covered parking', null, 12),
  ('amenity', 'pets_allowed', 'يسمح بالحيوانات', 'Pets allowed', null, 13),
  ('amenity', 'gym', 'نادي رياضي', 'Gym', null, 14),
  ('rent_condition', 'families_only', 'للعائلات فقط', 'Families only', null, 1),
  ('rent_condition', 'kuwaiti_only', 'للكويتيين فقط', 'Kuwaitis only', null, 2),
  ('rent_condition', 'gcc_only', 'لمواطني الخليج', 'GCC citizens only', null, 3),
  ('rent_condition', 'singles_allowed', 'يسمح بالعزاب', 'Singles allowed', null, 4),
  ('rent_condition', 'employees_only', 'للموظفين فقط', 'Employees only', null, 5),
  ('rent_condition', 'deposit_months', 'تأمين بالأشهر', 'Deposit in months', null, 6),
  ('rent_condition', 'min_contract_months', 'أقل مدة عقد بالأشهر', 'Minimum contract in months',
    null, 7),
  ('rent_condition', 'advance_months', 'دفع مقدم بالأشهر', 'Advance in months', null, 8),
  ('rent_condition', 'no_pets', 'لا يسمح بالحيوانات', 'No pets', null, 9),
  ('rent_condition', 'guarantor', 'كفيل', 'Guarantor', null, 10),
  ('rent_condition', 'payment_by_cheque', 'الدفع بالشيكات', 'Payment by cheque', null, 11),
  ('rent_condition', 'other', 'أخرى', 'Other', null, 12),
  ('expense', 'electricity_water', 'كهرباء وماء', 'Electricity and water', null, 1),
  ('expense', 'maintenance', 'صيانة', 'Maintenance', null, 2),
  ('expense', 'internet', 'إنترنت', 'Internet', null, 3),
  ('expense', 'guard', 'حارس', 'Guard', null, 4),
  ('expense', 'parking', 'موقف', 'Parking', null, 5),
  ('expense', 'municipality_fee', 'رسوم بلدية', 'Municipality fee', null, 6),
  ('expense', 'commission', 'عمولة', 'Commission', null, 7),
  ('expense', 'insurance_deposit', 'تأمين مسترد', 'Refundable deposit', null, 8),
  ('expense', 'other', 'أخرى', 'Other', null, 9),
  ('period', 'month', 'شهرياً', 'Per month', null, 1),
  ('period', 'year', 'سنوياً', 'Per year', null, 2),
  ('period', 'once', 'مرة واحدة', 'Once', null, 3),
  ('report_reason', 'spam', 'إزعاج', 'Spam', null, 1),
  ('report_reason', 'fraud', 'احتيال', 'Fraud', null, 2),
  ('report_reason', 'wrong_price', 'سعر غير صحيح', 'Wrong price', null, 3),
  ('report_reason', 'not_available', 'غير متاح', 'Not available', null, 4),
  ('report_reason', 'duplicate', 'مكرر', 'Duplicate', null, 5),
  ('report_reason', 'offensive', 'مسيء', 'Offensive', null, 6),
  ('report_reason', 'impersonation', 'انتحال شخصية', 'Impersonation', null, 7),
  ('report_reason', 'illegal', 'مخالف للقانون', 'Illegal', null, 8),
  ('report_reason', 'other', 'أخرى', 'Other', null, 9),
  ('location_precision', 'exact', 'دقيق', 'Exact', null, 1),
  ('location_precision', 'block', 'القطعة', 'Block', null, 2),
  ('location_precision', 'area', 'المنطقة', 'Area', null, 3),
  ('report_target', 'property', 'إعلان', 'Listing', null, 1),
  ('report_target', 'identity', 'معلن', 'Advertiser', null, 2),
  ('report_target', 'message', 'رسالة', 'Message', null, 3),
  ('report_target', 'review', 'تقييم', 'Review', null, 4)
on conflict (vocabulary, code) do update set
  text_ar = excluded.text_ar, text_en = excluded.text_en, note = excluded.note,
  position = excluded.position;

-- delete_account has no note, because the note would be deleted too; write_off has only a reason.
insert into public.admin_act_kinds (act, target, required, optional, needs, undone_by)
select listed.act, listed.target, string_to_array(concat_ws(',', 'target', nullif(listed.required, '')), ','),
  string_to_array(listed.optional, ','), listed.needs, listed.undone_by
from (values
  ('refund', 'invoice', 'to,reason', 'amount,note',
    'as target the number of an invoice (or the id of a payment that came after it was paid), to '
    '(wallet or source) and reason; amount in dinars, or empty for all that is left',
    'nothing: the money is the person''s'),
  ('delete_account', 'account', 'reason', '',
    'as target a phone, email or id, and reason', 'nothing: what was personal is gone at once'),
  ('suspend_account', 'account', 'reason', 'until,note',
    'as target a phone, email or id, and reason; until (31/1/2027), or empty for good',
    'activate_account'),
  ('ban_account', 'account', 'reason', 'note',
    'as target a phone, email or id, and reason', 'activate_account'),
  ('activate_account', 'account', 'reason', 'note',
    'as target a phone, email or id, and reason', 'suspend_account or ban_account'),
  ('set_identifier', 'account', 'value,reason', 'note',
    'as target a phone, email or id, as value the new phone or email, which counts as proven, and reason',
    'set_identifier'),
  ('approve', 'listing', 'version', 'reason,note',
    'as target a listing that waits («KW-102061»), and version as admin_listings_to_review shows it',
    'suspend'),
  ('reject', 'listing', 'reason', 'version,note',
    'as target a listing that waits («KW-102061»), and reason', 'its owner, who submits it again'),
  ('approve_changes', 'listing', 'version', 'reason,note',
    'as target a listing whose changes wait («KW-102061»), and version as admin_listings_to_review '
    'shows it', 'nothing: what it said before is gone'),
  ('reject_changes', 'listing', 'reason', 'version,note',
    'as target a listing whose changes wait («KW-102061»), and reason',
    'nothing: its owner changes it again'),
  ('suspend', 'listing', 'reason', 'version,note',
    'as target a listing («KW-102061»), and reason', 'restore'),
  ('restore', 'listing', '', 'reason,note',
    'as target a suspended listing («KW-102061»)', 'suspend'),
  ('suspend_duplicate', 'duplicate', 'reason', 'version,note',
    'as target the id of a pair (admin_duplicates), and reason: it suspends the listing that was '
    'published later', 'restore, with that listing as target'),
  ('dismiss_duplicate', 'duplicate', '', 'reason,note',
    'as target the id of a pair (admin_duplicates)', 'nothing: suspend the listing by itself'),
  ('verify_identity', 'identity', '', 'version,reason,note',
    'as target the id of a company or office that waits, or its licence number; with papers version '
    'as admin_identities_to_verify shows it', 'suspend_identity'),
  ('reject_identity', 'identity', 'reason', 'version,note',
    'as target the id of a company or office that waits, or its licence number, and reason; with '
    'papers version as admin_identities_to_verify shows it',
    'its owner, who asks again'),
  ('suspend_identity', 'identity', 'reason', 'note',
    'as target the id of a person''s identity, company or office, or its licence number, and reason',
    'restore_identity'),
  ('restore_identity', 'identity', '', 'reason,note',
    'as target the id of a suspended identity, or its licence number', 'suspend_identity'),
  ('hide_message', 'message', 'reason', 'everywhere,note',
    'as target the id of a message, and reason; everywhere hides all of its sender''s with its picture',
    'restore_message, within 180 days; a picture does not come back'),
  ('restore_message', 'message', '', 'reason,note', 'as target the id of a hidden message',
    'hide_message'),
  ('uphold', 'report', 'reason', 'everywhere,note',
    'as target the id of a report, and reason, which whom it is about reads; everywhere as for '
    'hide_message',
    'nothing: the listing is restored with restore, a message with restore_message, a review by '
    'emptying reviews.hidden_at'),
  ('dismiss', 'report', '', 'reason,note', 'as target the id of a report',
    'nothing: somebody else may report it again'),
  ('pay_out', 'payout', 'note', '',
    'as target the id of money of a deleted account (admin_payouts), and as note the reference of the '
    'transfer by which you paid it', 'nothing: the money is the person''s'),
  ('write_off', 'payout', 'reason', '',
    'as target the id of money of a deleted account (admin_payouts), and reason',
    'nothing: whose it was is forgotten')
) as listed (act, target, required, optional, needs, undone_by)
on conflict (act) do update set
  target = excluded.target, required = excluded.required, optional = excluded.optional,
  needs = excluded.needs, undone_by = excluded.undone_by;

reset edits.by;
