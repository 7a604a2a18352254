-- Rows that every project has. A script that may run twice; what an admin changed stays changed.

-- Rates (contract, section 1). A million or more is no limit.
insert into private.rates (rule, max, seconds, note) values
  ('register_address', 30, 3600, 'registrations per client address'),
  ('login_identifier', 10, 900, 'failed sign-ins per identifier and address'),
  ('login_address', 100, 900, 'failed sign-ins per address'),
  ('login_strangers', 100, 3600,
    'failed sign-ins per identifier, from all addresses together that its account does not know'),
  ('login_stranger', 1, 3600, 'above that: sign-ins tried per identifier and such address'),
  ('sign_ins', 60, 3600, 'sign-ins that succeed per account'),
  ('code_address', 10, 3600, 'codes sent per client address'),
  ('code_known_hour', 5, 3600, 'codes sent per phone or email and address that its account knows'),
  ('code_known_day', 10, 86400, 'codes sent per phone or email and address that its account knows'),
  ('code_stranger_hour', 2, 3600, 'codes sent per phone or email and other address'),
  ('code_stranger_day', 4, 86400, 'codes sent per phone or email and other address'),
  ('code_strangers_hour', 6, 3600, 'codes sent per phone or email for all other addresses'),
  ('code_strangers_day', 10, 86400, 'codes sent per phone or email for all other addresses'),
  ('code_service', 300, 60, 'codes sent by the whole service'),
  ('code_wrong_identifier', 10, 3600, 'wrong codes per phone or email and address'),
  ('code_wrong_address', 60, 3600, 'wrong codes per address'),
  ('favorites', 120, 60, 'favorite toggles per account'),
  ('messages', 60, 60, 'chat messages per account'),
  ('listings', 300, 3600, 'listings created per account'),
  ('publications', 60, 3600,
    'listings published, renewed or resumed per account; where its plan shows more, as many'),
  ('uploads', 60, 3600, 'uploads per account, each of up to 20 pictures'),
  ('reports', 30, 86400, 'reports to the admins per account'),
  ('export', 5, 86400, 'exports of all that an account owns, per account'),
  ('contact', 30, 86400, 'contact requests per account'),
  ('contact_unproven', 5, 86400,
    'of these, contact requests of an account without a proven phone or email')
on conflict (rule) do nothing;
-- Of before: what anybody could use up for somebody else.
delete from private.rates
where rule in ('code_identifier_hour', 'code_identifier_day', 'code_wrong');

insert into private.settings (name, value, note) values
  ('review_listings', 'false', 'true: listings wait for an admin before everybody sees them'),
  ('seller', '{"nameAr":"سوق العقار الكويتي","nameEn":"Kuwait Property Market","registrationNo":"",'
    '"addressAr":"مدينة الكويت","phone":"","email":""}',
    'who sells: on every receipt from then on')
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

-- Told by the functions, which know where the project is reached.
insert into private.settings (name, value, note) values
  ('files_url', '""', 'where public files are read; kept by the functions')
on conflict (name) do nothing;

-- Public: whoever has the address of a picture sees it, with any token or none, and nobody can guess
-- or list addresses. The types hold letter by letter. The sizes hold for whoever names a length; our
-- functions send in pieces and name none, so theirs is the only limit (functions/api/media.ts). No
-- `nosniff` is sent either: what is served begins as its type says, as the functions made it.
insert into storage.buckets (id, name, public, file_size_limit, allowed_mime_types) values
  ('avatars', 'avatars', true, 5242880, '{image/jpeg,image/png,image/webp}'),
  ('listings', 'listings', true, 10485760, '{image/jpeg,image/png,image/webp}')
on conflict (id) do update set
  public = excluded.public, file_size_limit = excluded.file_size_limit,
  allowed_mime_types = excluded.allowed_mime_types;

-- The other sides of the ledger.
insert into public.wallets (id, part, house) values
  ('7a0f3a52-58d4-4f2c-9d7e-0c1b6b1f1001', 'house', 'provider'),
  ('7a0f3a52-58d4-4f2c-9d7e-0c1b6b1f1002', 'house', 'sales'),
  ('7a0f3a52-58d4-4f2c-9d7e-0c1b6b1f1003', 'house', 'adjustments')
on conflict do nothing;

insert into public.governorates (id, name_ar, name_en, lat, lng, position) values
  ('capital', 'العاصمة', 'Capital', 29.36, 47.97, 1),
  ('hawalli', 'حولي', 'Hawalli', 29.31, 48.05, 2),
  ('farwaniya', 'الفروانية', 'Farwaniya', 29.28, 47.94, 3),
  ('mubarak-al-kabeer', 'مبارك الكبير', 'Mubarak Al-Kabeer', 29.22, 48.08, 4),
  ('ahmadi', 'الأحمدي', 'Ahmadi', 28.95, 48.11, 5),
  ('jahra', 'الجهراء', 'Jahra', 29.45, 47.6, 6)
on conflict (id) do update set
  name_ar = excluded.name_ar, name_en = excluded.name_en, lat = excluded.lat, lng = excluded.lng,
  position = excluded.position;

-- Centroids marked true are approximate: a fall-back for the map.
insert into public.areas
  (governorate_id, id, name_ar, name_en, lat, lng, approximate, alias_ar, position) values
  ('capital', 'kuwait-city', 'مدينة الكويت', 'Kuwait City',
    29.370, 47.978, false, null, 1),
  ('capital', 'sharq', 'شرق', 'Sharq',
    29.381, 47.989, true, null, 2),
  ('capital', 'mirqab', 'المرقاب', 'Mirqab',
    29.367, 47.983, true, null, 3),
  ('capital', 'qibla', 'القبلة', 'Qibla',
    29.370, 47.968, true, 'جبلة', 4),
  ('capital', 'dasman', 'دسمان', 'Dasman',
    29.388, 48.001, true, null, 5),
  ('capital', 'salhiya', 'الصالحية', 'Salhiya',
    29.366, 47.968, true, null, 6),
  ('capital', 'bneid-al-gar', 'بنيد القار', 'Bneid Al-Gar',
    29.373, 48.004, true, null, 7),
  ('capital', 'dasma', 'الدسمة', 'Dasma',
    29.365, 48.001, false, null, 8),
  ('capital', 'daiya', 'الدعية', 'Daiya',
    29.360, 48.009, true, null, 9),
  ('capital', 'mansouriya', 'المنصورية', 'Mansouriya',
    29.358, 47.994, true, null, 10),
  ('capital', 'abdullah-al-salem', 'ضاحية عبدالله السالم', 'Abdullah Al-Salem',
    29.352, 47.984, true, null, 11),
  ('capital', 'nuzha', 'النزهة', 'Nuzha',
    29.342, 47.993, true, null, 12),
  ('capital', 'faiha', 'الفيحاء', 'Faiha',
    29.341, 47.979, true, null, 13),
  ('capital', 'shamiya', 'الشامية', 'Shamiya',
    29.347, 47.962, false, null, 14),
  ('capital', 'rawda', 'الروضة', 'Rawda',
    29.331, 47.998, true, null, 15),
  ('capital', 'adailiya', 'العديلية', 'Adailiya',
    29.328, 47.981, true, null, 16),
  ('capital', 'khaldiya', 'الخالدية', 'Khaldiya',
    29.324, 47.964, true, null, 17),
  ('capital', 'kaifan', 'كيفان', 'Kaifan',
    29.337, 47.961, true, null, 18),
  ('capital', 'qadsiya', 'القادسية', 'Qadsiya',
    29.349, 48.003, true, null, 19),
  ('capital', 'qortuba', 'قرطبة', 'Qortuba',
    29.313, 47.986, true, null, 20),
  ('capital', 'surra', 'السرة', 'Surra',
    29.313, 48.007, true, null, 21),
  ('capital', 'yarmouk', 'اليرموك', 'Yarmouk',
    29.314, 47.969, true, null, 22),
  ('capital', 'shuwaikh', 'الشويخ السكنية', 'Shuwaikh',
    29.352, 47.952, true, null, 23),
  ('capital', 'shuwaikh-industrial', 'الشويخ الصناعية', 'Shuwaikh Industrial',
    29.335, 47.938, true, null, 24),
  ('capital', 'granada', 'غرناطة', 'Granada',
    29.313, 47.880, true, null, 25),
  ('capital', 'sulaibikhat', 'الصليبخات', 'Sulaibikhat',
    29.318, 47.840, true, null, 26),
  ('capital', 'doha', 'الدوحة', 'Doha',
    29.317, 47.815, true, null, 27),
  ('capital', 'nahda', 'النهضة', 'Nahda',
    29.307, 47.860, true, null, 28),
  ('capital', 'nw-sulaibikhat', 'شمال غرب الصليبيخات', 'North West Sulaibikhat',
    29.318, 47.790, true, null, 29),
  ('capital', 'qairawan', 'القيروان', 'Qairawan',
    29.300, 47.790, true, null, 30),
  ('capital', 'jaber-al-ahmad', 'مدينة جابر الأحمد', 'Jaber Al-Ahmad',
    29.347, 47.765, true, null, 31),
  ('capital', 'failaka', 'فيلكا', 'Failaka',
    29.44, 48.33, true, null, 32),
  ('hawalli', 'hawalli', 'حولي', 'Hawalli',
    29.333, 48.029, false, null, 33),
  ('hawalli', 'salmiya', 'السالمية', 'Salmiya',
    29.334, 48.076, false, null, 34),
  ('hawalli', 'shaab', 'الشعب', 'Shaab',
    29.350, 48.030, true, null, 35),
  ('hawalli', 'maidan-hawalli', 'ميدان حولي', 'Maidan Hawalli',
    29.341, 48.032, true, null, 36),
  ('hawalli', 'rumaithiya', 'الرميثية', 'Rumaithiya',
    29.312, 48.074, false, null, 37),
  ('hawalli', 'jabriya', 'الجابرية', 'Jabriya',
    29.319, 48.028, true, null, 38),
  ('hawalli', 'bayan', 'بيان', 'Bayan',
    29.303, 48.049, false, null, 39),
  ('hawalli', 'mishref', 'مشرف', 'Mishref',
    29.276, 48.068, true, null, 40),
  ('hawalli', 'salwa', 'سلوى', 'Salwa',
    29.296, 48.079, false, null, 41),
  ('hawalli', 'mubarak-al-abdullah', 'مبارك العبدالله', 'Mubarak Al-Abdullah',
    29.266, 48.043, true, 'غرب مشرف', 42),
  ('hawalli', 'bidaa', 'البدع', 'Bidaa',
    29.319, 48.089, true, null, 43),
  ('hawalli', 'anjafa', 'أنجفة', 'Anjafa',
    29.297, 48.090, true, null, 44),
  ('hawalli', 'salam', 'السلام', 'Salam',
    29.297, 48.014, true, null, 45),
  ('hawalli', 'hitteen', 'حطين', 'Hitteen',
    29.281, 48.020, true, null, 46),
  ('hawalli', 'shuhada', 'الشهداء', 'Shuhada',
    29.271, 48.032, true, null, 47),
  ('hawalli', 'zahra', 'الزهراء', 'Zahra',
    29.278, 47.998, true, null, 48),
  ('hawalli', 'siddiq', 'الصديق', 'Siddiq',
    29.294, 47.993, true, null, 49),
  ('farwaniya', 'farwaniya', 'الفروانية', 'Farwaniya',
    29.278, 47.959, false, null, 50),
  ('farwaniya', 'khaitan', 'خيطان', 'Khaitan',
    29.283, 47.976, true, null, 51),
  ('farwaniya', 'abraq-khaitan', 'أبرق خيطان', 'Abraq Khaitan',
    29.290, 47.978, true, null, 52),
  ('farwaniya', 'south-khaitan', 'جنوب خيطان', 'South Khaitan',
    29.267, 47.985, true, null, 53),
  ('farwaniya', 'jleeb', 'جليب الشيوخ', 'Jleeb Al-Shuyoukh',
    29.259, 47.937, true, null, 54),
  ('farwaniya', 'ardiya', 'العارضية', 'Ardiya',
    29.290, 47.905, true, null, 55),
  ('farwaniya', 'andalous', 'الأندلس', 'Andalous',
    29.301, 47.882, true, null, 56),
  ('farwaniya', 'firdous', 'الفردوس', 'Firdous',
    29.285, 47.876, true, null, 57),
  ('farwaniya', 'sabah-al-nasser', 'صباح الناصر', 'Sabah Al-Nasser',
    29.270, 47.884, true, null, 58),
  ('farwaniya', 'rabiya', 'الرابية', 'Rabiya',
    29.295, 47.933, false, null, 59),
  ('farwaniya', 'omariya', 'العمرية', 'Omariya',
    29.297, 47.953, true, null, 60),
  ('farwaniya', 'rehab', 'الرحاب', 'Rehab',
    29.284, 47.933, true, null, 61),
  ('farwaniya', 'riggae', 'الرقعي', 'Riggae',
    29.311, 47.911, true, null, 62),
  ('farwaniya', 'ishbiliya', 'إشبيلية', 'Ishbiliya',
    29.272, 47.938, true, null, 63),
  ('farwaniya', 'abdullah-al-mubarak', 'عبدالله المبارك', 'Abdullah Al-Mubarak',
    29.243, 47.898, true, null, 64),
  ('farwaniya', 'south-abdullah-al-mubarak', 'جنوب عبدالله المبارك', 'South Abdullah Al-Mubarak',
    29.222, 47.897, true, null, 65),
  ('farwaniya', 'west-abdullah-al-mubarak', 'غرب عبدالله المبارك', 'West Abdullah Al-Mubarak',
    29.233, 47.858, true, null, 66),
  ('farwaniya', 'dajeej', 'الضجيج', 'Dajeej',
    29.262, 47.962, true, null, 67),
  ('farwaniya', 'rai', 'الري', 'Rai',
    29.306, 47.955, true, null, 68),
  ('mubarak-al-kabeer', 'mubarak-al-kabeer', 'مبارك الكبير', 'Mubarak Al-Kabeer',
    29.190, 48.086, true, null, 69),
  ('mubarak-al-kabeer', 'sabah-al-salem', 'صباح السالم', 'Sabah Al-Salem',
    29.257, 48.057, false, null, 70),
  ('mubarak-al-kabeer', 'adan', 'العدان', 'Adan',
    29.229, 48.066, true, null, 71),
  ('mubarak-al-kabeer', 'qusour', 'القصور', 'Qusour',
    29.214, 48.072, true, null, 72),
  ('mubarak-al-kabeer', 'qurain', 'القرين', 'Qurain',
    29.203, 48.078, true, null, 73),
  ('mubarak-al-kabeer', 'messila', 'المسيلة', 'Messila',
    29.247, 48.093, true, null, 74),
  ('mubarak-al-kabeer', 'masayel', 'المسايل', 'Masayel',
    29.239, 48.089, false, null, 75),
  ('mubarak-al-kabeer', 'fnaitees', 'الفنيطيس', 'Fnaitees',
    29.225, 48.102, false, null, 76),
  ('mubarak-al-kabeer', 'abu-ftaira', 'أبو فطيرة', 'Abu Ftaira',
    29.197, 48.103, false, null, 77),
  ('mubarak-al-kabeer', 'abu-al-hasaniya', 'أبو الحصانية', 'Abu Al-Hasaniya',
    29.191, 48.114, false, null, 78),
  ('mubarak-al-kabeer', 'subhan', 'صبحان', 'Subhan',
    29.242, 48.005, true, null, 79),
  ('mubarak-al-kabeer', 'wista', 'الوسطى', 'Wista',
    null, null, true, null, 80),
  ('ahmadi', 'ahmadi', 'الأحمدي', 'Ahmadi',
    29.077, 48.084, false, null, 81),
  ('ahmadi', 'fahaheel', 'الفحيحيل', 'Fahaheel',
    29.083, 48.130, false, null, 82),
  ('ahmadi', 'mangaf', 'المنقف', 'Mangaf',
    29.096, 48.133, false, null, 83),
  ('ahmadi', 'abu-halifa', 'أبو حليفة', 'Abu Halifa',
    29.129, 48.127, true, null, 84),
  ('ahmadi', 'mahboula', 'المهبولة', 'Mahboula',
    29.145, 48.130, false, null, 85),
  ('ahmadi', 'fintas', 'الفنطاس', 'Fintas',
    29.174, 48.121, false, null, 86),
  ('ahmadi', 'egaila', 'العقيلة', 'Egaila',
    29.170, 48.105, true, null, 87),
  ('ahmadi', 'riqqa', 'الرقة', 'Riqqa',
    29.146, 48.095, false, null, 88),
  ('ahmadi', 'hadiya', 'هدية', 'Hadiya',
    29.144, 48.086, true, null, 89),
  ('ahmadi', 'jaber-al-ali', 'جابر العلي', 'Jaber Al-Ali',
    29.169, 48.083, true, null, 90),
  ('ahmadi', 'dhaher', 'الظهر', 'Dhaher',
    29.159, 48.061, true, null, 91),
  ('ahmadi', 'sabahiya', 'الصباحية', 'Sabahiya',
    29.107, 48.106, true, null, 92),
  ('ahmadi', 'fahad-al-ahmad', 'فهد الأحمد', 'Fahad Al-Ahmad',
    29.125, 48.104, true, null, 93),
  ('ahmadi', 'ali-sabah-al-salem', 'علي صباح السالم', 'Ali Sabah Al-Salem',
    28.960, 48.157, true, 'أم الهيمان', 94),
  ('ahmadi', 'mina-abdullah', 'ميناء عبدالله', 'Mina Abdullah',
    29.01, 48.16, true, null, 95),
  ('ahmadi', 'julaia', 'الجليعة', 'Julaia',
    28.87, 48.26, true, null, 96),
  ('ahmadi', 'bnaider', 'بنيدر', 'Bnaider',
    28.79, 48.27, true, null, 97),
  ('ahmadi', 'sabah-al-ahmad', 'مدينة صباح الأحمد', 'Sabah Al-Ahmad City',
    28.782, 48.064, false, null, 98),
  ('ahmadi', 'sabah-al-ahmad-sea', 'صباح الأحمد البحرية', 'Sabah Al-Ahmad Sea City',
    28.645, 48.342, false, null, 99),
  ('ahmadi', 'khairan', 'الخيران', 'Khairan',
    28.66, 48.38, true, null, 100),
  ('ahmadi', 'zour', 'الزور', 'Zour',
    28.74, 48.38, true, null, 101),
  ('ahmadi', 'wafra', 'الوفرة', 'Wafra',
    28.639, 47.931, false, null, 102),
  ('ahmadi', 'wafra-residential', 'الوفرة السكنية', 'Wafra Residential',
    28.558, 48.043, false, null, 103),
  ('ahmadi', 'nuwaiseeb', 'النويصيب', 'Nuwaiseeb',
    28.60, 48.39, true, null, 104),
  ('jahra', 'jahra', 'الجهراء', 'Jahra',
    29.338, 47.658, false, null, 105),
  ('jahra', 'naeem', 'النعيم', 'Naeem',
    29.330, 47.694, true, null, 106),
  ('jahra', 'naseem', 'النسيم', 'Naseem',
    29.318, 47.682, true, null, 107),
  ('jahra', 'oyoun', 'العيون', 'Oyoun',
    29.327, 47.664, true, null, 108),
  ('jahra', 'qasr', 'القصر', 'Qasr',
    29.345, 47.690, true, null, 109),
  ('jahra', 'waha', 'الواحة', 'Waha',
    29.341, 47.645, true, null, 110),
  ('jahra', 'taima', 'تيماء', 'Taima',
    29.320, 47.676, true, null, 111),
  ('jahra', 'saad-al-abdullah', 'سعد العبدالله', 'Saad Al-Abdullah',
    29.313, 47.727, true, null, 112),
  ('jahra', 'sulaibiya', 'الصليبية', 'Sulaibiya',
    29.287, 47.818, true, null, 113),
  ('jahra', 'amghara', 'أمغرة', 'Amghara',
    29.297, 47.757, true, null, 114),
  ('jahra', 'mutlaa', 'مدينة المطلاع', 'Mutlaa City',
    29.49, 47.59, false, null, 115),
  ('jahra', 'kabd', 'كبد', 'Kabd',
    29.17, 47.70, true, null, 116),
  ('jahra', 'abdali', 'العبدلي', 'Abdali',
    30.03, 47.70, true, null, 117),
  ('jahra', 'salmi', 'السالمي', 'Salmi',
    29.10, 46.70, true, null, 118),
  ('jahra', 'subiya', 'الصبية', 'Subiya',
    29.58, 48.10, true, null, 119)
on conflict (id) do update set
  governorate_id = excluded.governorate_id, name_ar = excluded.name_ar, name_en = excluded.name_en,
  lat = excluded.lat, lng = excluded.lng, approximate = excluded.approximate,
  alias_ar = excluded.alias_ar, position = excluded.position;

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
  ('report_target', 'review', 'تقييم', 'Review', null, 4),
  ('notification_category', 'messages', 'الرسائل', 'Messages', 'message_new', 1),
  ('notification_category', 'leads', 'طلبات التواصل', 'Leads', 'lead_new', 2),
  ('notification_category', 'favorites', 'المفضلة', 'Favorites',
    'favorite_price_drop, favorite_unavailable', 3),
  ('notification_category', 'listings', 'إعلاناتي', 'My listings',
    'listing_expiring, listing_approved, listing_rejected', 4),
  ('notification_category', 'billing', 'المدفوعات', 'Payments',
    'invoice_paid, invoice_failed, refund, plan_expiring', 5),
  ('notification_category', 'account', 'الحساب', 'Account',
    'identity_verified, identity_rejected, review_new, security_login, security_password, system', 6)
on conflict (vocabulary, code) do update set
  text_ar = excluded.text_ar, text_en = excluded.text_en, note = excluded.note,
  position = excluded.position;

-- Which invoice paid which interval, for what was bought before intervals were kept: a plan that was
-- paid for while the subscription held. Invoices that are refunded took theirs back then. Featured
-- credits, of which none had been used, go with their invoice.
with filled as (
  insert into public.subscription_intervals (subscription_id, invoice_id, days)
  select subscriptions.id, invoices.id, plans.interval_days
  from public.subscriptions
  join public.plans on plans.id = subscriptions.plan_id
  join public.invoices on invoices.identity_id = subscriptions.identity_id
    and invoices.paid_at >= subscriptions.starts_at
    and invoices.paid_at < coalesce(subscriptions.ended_at, 'infinity')
  where invoices.state in ('paid', 'partially_refunded') and not invoices.credited
    and exists (
      select from public.invoice_lines
      where invoice_lines.invoice_id = invoices.id and invoice_lines.plan_id = plans.id
    )
    and not exists (
      select from public.subscription_intervals
      where subscription_intervals.invoice_id = invoices.id
    )
  order by invoices.paid_at
  on conflict do nothing
  returning subscription_intervals.id, subscription_id, invoice_id
), given as (
  select featured_credits.id, subscriptions.identity_id, filled.invoice_id,
    plans.featured_credits as credits,
    sum(plans.featured_credits) over (partition by featured_credits.id order by filled.id)
      <= featured_credits.credits as fits
  from filled
  join public.subscriptions on subscriptions.id = filled.subscription_id
  join public.plans on plans.id = subscriptions.plan_id and plans.featured_credits > 0
  join public.featured_credits
    on featured_credits.identity_id = subscriptions.identity_id
    and featured_credits.invoice_id is null
), named as (
  insert into public.featured_credits (identity_id, credits, invoice_id)
  select given.identity_id, given.credits, given.invoice_id from given where given.fits
)
update public.featured_credits
set credits = featured_credits.credits
  - (select sum(given.credits) from given where given.fits and given.id = featured_credits.id)
where featured_credits.id in (select given.id from given where given.fits);

-- Publications and ranks of before they said until when: what is not listed any more ends. A little
-- ahead, so that no snapshot that is read before this commits knows otherwise afterwards; nothing
-- that is kept by triggers is ever found here.
with over as (
  select publications.property_id from private.publications
  where publications.until = 'infinity' and not exists (
    select from public.properties
    where properties.id = publications.property_id and properties.listed
  )
  for update skip locked
)
update private.publications set until = clock_timestamp() + interval '10 minutes'
from over where publications.property_id = over.property_id and publications.until = 'infinity';

with over as (
  select office_ranks.id from private.office_ranks
  where office_ranks.until = 'infinity' and not exists (
    select from public.organisations
    where organisations.identity_id = office_ranks.identity_id and organisations.listed
  )
  for update skip locked
)
update private.office_ranks set until = clock_timestamp() + interval '10 minutes'
from over where office_ranks.id = over.id;

-- Listings that were edited by hand before states and times were tied together.
update public.properties
set published_at = case
      when status in ('active', 'paused', 'expired', 'sold', 'rented', 'exchanged')
        then coalesce(published_at, created_at)
      else published_at
    end,
    expires_at = case
      when status in ('active', 'paused') then coalesce(expires_at, now() + interval '30 days')
      when status = 'expired' then coalesce(expires_at, now())
      else expires_at
    end,
    paused_at = case status
      when 'paused' then coalesce(paused_at, now()) when 'active' then null else paused_at
    end,
    closed_at = case
      when status in ('sold', 'rented', 'exchanged') then coalesce(closed_at, now())
      when status in ('active', 'paused') then null
      else closed_at
    end,
    suspended_from = case when status = 'suspended' then coalesce(suspended_from,
      case when published_at is null then 'draft' else 'active' end) end,
    deleted_at = case when status = 'deleted' then coalesce(deleted_at, now()) end
where status in ('active', 'paused', 'expired') and num_nulls(published_at, expires_at) > 0
  or status = 'paused' and paused_at is null or status = 'active' and paused_at is not null
  or status in ('sold', 'rented', 'exchanged') and num_nulls(published_at, closed_at) > 0
  or status in ('active', 'paused') and closed_at is not null
  or (status = 'suspended') <> (suspended_from is not null)
  or (status = 'deleted') <> (deleted_at is not null);
update public.accounts
set suspended_until = case when status = 'suspended' then suspended_until end,
    delete_at = case when status = 'deletion_requested'
      then coalesce(delete_at, now() + interval '14 days') end
where suspended_until is not null and status <> 'suspended'
  or (status = 'deletion_requested') <> (delete_at is not null);
