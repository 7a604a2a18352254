-- Words that searches understand, besides the names of areas and kinds. The script can be run repeatedly.
set edits.by = 'release';

with once as (
  select distinct private.search_text(given.phrase) as phrase, meant.field, value.value
  from (values
    ('type', 'SALE',
      'للبيع, بيع, البيع, for sale, sale, to buy, buy, للشراء, شراء, lil bai3, lel bai3, '
      'lil bee3, lel bee3, lil be3, lel be3, lil bay3, lilbai3, lelbai3, bai3, '
      'اشتري, نشتري, lilbee3, lelbee3, lilbe3, lelbe3, bee3, ashtari, ashtiri'),
    ('type', 'RENT',
      'للايجار, ايجار, الايجار, للاجار, للاجاره, للإيجاره, للتاجير, تاجير, للاستئجار, '
      'استئجار, لايجار, اجار, for rent, rent, to rent, to let, for lease, lease, rental, '
      'lil ijar, lel ijar, lil ejar, lel ejar, lilijar, lelejar, ejar, ijar, eejar, lel '
      'eejar, استاجر, نستاجر, تمليك للايجار, تمليك ايجار, lil eejar, lileejar, lilejar, '
      'lelijar, a2jar, asta2jer'),
    ('type', 'EXCHANGE',
      'للبدل, بدل, البدل, للتبادل, تبادل, مبادله, للمبادله, مبادل, for exchange, exchange, '
      'swap, for swap, lil badal, lel badal, badal, ابادل, نبادل, تمليك للبدل, tabadul, abadil'),
    ('strategy', 'auction',
      'مزاد, مزادات, المزاد العلني, مزاد علني, بالمزاد, auction, auctions, at auction'),
    ('strategy', 'deal',
      'نزل سعره, نزل سعرها, نزول سعر, تخفيض سعر, price drop, price drops, reduced price'),
    ('kind', 'apartment',
      'شقق, الشقق, شقه سكنيه, شقق سكنيه, شقق تمليك, apartments, apt, apts, appartment, '
      'apartement, flat, flats, condo, sha22a, sha22ah, sha8a, sha8ah, shaqa, shaqqa, '
      'shaqah, shiqqa, shiqqah, sheqqa, sha2a, sha2ah, shiga, shigga, sho2a, shu2a, sho8ag, '
      'shoqaq, سقه, شقتي, shagga, shaggah, shugga, sho8a, shiqaq, shigag, shgag, shuqaq, '
      'shugag'),
    ('kind', 'floor', 'ادوار, floors, dor, dour, adwar, dor kamil, door kamil'),
    ('kind', 'house, villa, gov_house',
      'بيت, house, بيوت, منزل, منازل, بيت سكني, houses, home, homes, bait, beit, bayt, byoot, '
      'buyoot, boyoot, manzil, بيتي, biyoot, beyoot, byout'),
    ('kind', 'villa, house',
      'فيلا, villa, فلل, فله, فلا, فيله, فيلات, فلتين, villas, vila, vilas, vella, villah, fella, fela, '
      'fila, filla, filal, vilal'),
    ('kind', 'gov_house',
      'بيوت حكوميه, بيت حكومه, بيوت حكومه, حكومي بيت, government houses, government home, '
      'gov house, govt house, bait 7ukoomi, bait 7ukomi, bait 7okomi, bait 7kumi, bait hukoomi, '
      'bait hukumi, bait hokomi, beit 7ukoomi, bet 7ukoomi'),
    ('kind', 'residential_plot',
      'قسائم سكنيه, قسايم سكنيه, قسيمه سكن خاص, residential plots, residential land'),
    ('kind', 'land, residential_plot',
      'ارض, land, اراضي, قطعه ارض, قطع اراضي, قطعه الارض, lands, plot of land, piece of '
      'land, ard, ardh, aradi, aradhi, ar''9, ar9, قسيمه, قسايم, قسائم, plot, plots, qasema, '
      'qaseema, gaseema, qasima, qasimah, gasima, gasimah, gaseemah, qaseemah, 8asima, 8aseema, '
      'gasayem'),
    ('kind', 'building, investment_building',
      'عماره, building, عماير, عمارات, عماره سكنيه, بنايه, بنايات, مبنى, مباني, buildings, 3mara, 3emara, '
      'emara, imara, binaya, bnaya, 3imara, 3emarah, 3marah, 3amara'),
    ('kind', 'investment_building',
      'عمارات استثماريه, عماير استثماريه, بنايه استثماريه, بنايات استثماريه, investment '
      'buildings'),
    ('kind', 'commercial_complex',
      'مجمعات تجاريه, مجمع, مجمعات, commercial complexes, complex'),
    ('kind', 'chalet',
      'شاليهات, شالي, شالية, شاليهه, chalets, shalet, shaleh, shaleih, challet, shalih, '
      'shalihat, shalaih, shalai, shaleeh, chaleh, chalaih, shalehat, beach house, '
      'beach houses'),
    ('kind', 'farm', 'مزارع, مزرعة, farms, mazra3a, mazraa, mazra3ah, mazra3at'),
    ('kind', 'istiraha',
      'استراحات, rest houses, resthouse, istiraha, estra7a, isteraha, estiraha, istira7a, '
      'estira7a, istra7a, istirahah, istira7ah'),
    ('kind', 'stable',
      'جواخير, جاخور, يواخير, ياخور, اسطبل, اسطبلات, stables, jakhoor, jakhour, jawakheer, '
      'yakhoor'),
    ('kind', 'office', 'مكاتب, offices, office space, maktab, makateb, مكنب, makatib'),
    ('kind', 'shop',
      'محلات, دكان, دكاكين, shops, store, stores, retail shop, ma7al, mahal, ma7alat, ma7all, '
      'm7al, ma7alaat, dukkan, dokan'),
    ('kind', 'showroom', 'معرض سيارات, معارض سيارات, معارض, show room, showrooms, show rooms'),
    ('kind', 'warehouse',
      'مخازن, مستودع, مستودعات, warehouses, storage, makhzan, ma5zan, ma5azen, makhazen'),
    ('kind', 'industrial_plot', 'قسائم صناعيه, قسايم صناعيه, industrial plots, industrial land'),
    ('kind', 'studio',
      'ستوديو, استديو, ستديو, استوديوهات, استديوهات, ستوديوهات, studios, stodio, studyo, '
      'estudio, stodyo, istodyo, studeo'),
    ('kind', 'annex', 'ملاحق, annexes, mul7aq, mulhaq, mol7ag, mul7ag, mol7aq, mulhag'),
    ('kind', 'basement', 'سراديب, basements, sirdab, serdab'),
    ('kind', 'camp', 'مخيمات, camps, mokhayam, mukhayam'),
    ('kind', 'parking',
      'مواقف, موقف سيارات, مواقف سيارات, parkings, parking space, parking spaces, car park'),
    ('furnished', 'none',
      'غير مفروش, غير مفروشه, بدون فرش, بدون اثاث, بلا اثاث, '
      'unfurnished, un furnished, not furnished, non furnished, without furniture, no '
      'furniture, not fully furnished, without any furniture, بدون اي اثاث, بدون اي فرش'),
    ('furnished', 'partial',
      'مفروش, مفروشه, المفروشه, نصف مفروشه, نص مفروشه, شبه مفروشه, مفروشه '
      'جزئيا, مفروش جزئيا, furnished, semi furnished, semifurnished, partly furnished, '
      'partially furnished, half furnished, mafrosh, mafroosh, mafrosha, mafroosha, '
      'mafrooshah, mafrousha'),
    ('furnished', 'full',
      'مفروش, مفروشه, المفروشه, مفروشه بالكامل, مفروش بالكامل, مفروشه كامل, '
      'furnished, fully furnished, full furnished, mafrosh, mafroosh, '
      'mafrosha, mafroosha, mafrooshah, mafrousha'),
    ('plot_position', 'one_street', 'شارع واحد, one street, single street'),
    ('plot_position', 'corner', 'زاويه, زوايه, ركن, corner, zawya, zawia'),
    ('plot_position', 'two_streets', 'شارعين, على شارعين, علي شارعين, two streets, 2 streets'),
    ('plot_position', 'front_back', 'بطن وظهر, بطن و ظهر, بطن ظهر, front and back, batn w thahr'),
    ('plot_position', 'street_alley', 'شارع وسكه, شارع و سكه, شارع سكه, street and alley'),
    ('plot_position', 'head_three_sides', 'راس, راس بلوك, three sides'),
    ('plot_position', 'on_square', 'على ساحه, علي ساحه, on a square, on square, open square'),
    ('amenity', 'elevator',
      'مصعد, مصاعد, مصعدين, اصنصير, اسنصير, اصانصير, elevator, elevators, lift, lifts, '
      'asansair, asanseer'),
    ('amenity', 'central_ac',
      'تكييف مركزي, تكيف مركزي, مكيف مركزي, مكيفات مركزيه, تكييف سنترال, تبريد مركزي, '
      'central air conditioning, central airconditioning, central ac, central a c, '
      'central air, central cooling'),
    ('amenity', 'diwaniya',
      'ديوانيه, ديوانيات, ديوانيتين, دوانيه, diwaniya, diwaniyah, dewaniya, dewaniyah, '
      'diwaneya, diwania'),
    ('amenity', 'basement',
      'وسرداب, مع سرداب, فيه سرداب, فيها سرداب, به سرداب, بها سرداب, with basement, '
      'with a basement, and basement, has basement'),
    ('amenity', 'pool',
      'مسبح, مسابح, حمام سباحه, بركه سباحه, حوض سباحه, pool, pools, swimming pool, '
      'swimming pools, masbah, masba7, mesbah'),
    ('amenity', 'garden',
      'حديقه, حدايق, جنينه, garden, gardens, hadiqa, 7adiqa'),
    ('amenity', 'balcony',
      'بلكونه, بلكون, بلكونات, بلكونتين, بالكونه, شرفه, balcony, balconies, balkona, balcona'),
    ('amenity', 'sea_view',
      'اطلاله بحريه, اطلاله على البحر, اطلاله البحر, مطل على البحر, مطله على البحر, '
      'تطل على البحر, يطل على البحر, على البحر, علي بحر, عالبحر, ع البحر, sea view, seaview, '
      'sea views, sea facing, beachfront, seafront, sea front, on the sea'),
    ('amenity', 'security',
      'حراسه, حراسه 24 ساعه, حارس, security, security guard, guarded'),
    ('amenity', 'maid_room',
      'غرفه خادمه, غرفه الخادمه, غرفه خادمات, غرفه خدم, غرفه الخدم, غرفه خدامه, غرفه الخدامه, '
      'غرفه خدامات, غرفه شغاله, غرفه الشغاله, غرفه عامله, غرفه للخادمه, غرفه للخدامه, '
      'غرفه للشغاله, غرفه حق الخدامه, maid room, maids room, maid s room, maid rooms, '
      'maids rooms'),
    ('amenity', 'driver_room',
      'غرفه سايق, غرفه السايق, غرفه سواق, غرفه دريول, غرفه الدريول, غرفه للسايق, '
      'غرفه حق السايق, driver room, drivers room, driver s room'),
    ('amenity', 'covered_parking',
      'مواقف مظلله, موقف مظلل, مظله سياره, مظله سيارات, مظلات سيارات, كراج, قراج, جراج, '
      'باركنج, وموقف, ومواقف, وموقف سياره, وموقف سيارات, مع موقف, مع مواقف, مع موقف سياره, '
      'مع موقف سيارات, مع مواقف سيارات, فيه موقف, فيها موقف, فيها مواقف, فيه مواقف, '
      'covered parking, shaded parking, garage, with parking, and parking, with a parking, '
      'with car park'),
    ('amenity', 'pets_allowed',
      'يسمح بالحيوانات, مسموح حيوانات, مسموح بالحيوانات, مسموح الحيوانات, تسمح بالحيوانات, '
      'pets allowed, pet allowed, pet friendly, pets friendly, pets ok, allows pets'),
    ('amenity', 'gym',
      'نادي رياضي, نادي صحي, جيم, صاله رياضيه, صاله رياضه, gym, gymnasium, fitness'),
    ('sort', 'price_asc',
      'ارخص, ارخص شي, ارخص سعر, بارخص سعر, باقل سعر, رخيص, رخيصه, رخاص, cheapest, '
      'cheapest price, lowest price, cheap, arkhas, ar5as, rkhees, rakhees'),
    ('sort', 'price_desc',
      'اغلى, اغلى سعر, most expensive, priciest, highest price'),
    ('sort', 'newest',
      'احدث, احدث الاعلانات, احدث اعلان, اخر الاعلانات, اخر اعلان, newest, latest, most recent'),
    ('sort', 'area_desc',
      'اكبر مساحه, largest, biggest'),
    ('direct', 'true',
      'من المالك, مع المالك, المالك مباشره, مباشره من المالك, مباشر من المالك, '
      'من المالك مباشره, من المالك مباشر, من المالك عدل, عدل من المالك, عن طريق المالك, '
      'من صاحبه, من صاحبها, من صاحب العقار, من صاحب الملك, من صاحب البيت, من راعيه, من راعيها, '
      'من راعي البيت, بدون مكتب, بدون مكاتب, بدون وسيط, بدون وسطاء, بدون وساطه, بدون سمسار, '
      'بدون سماسره, بدون دلال, بدون دلالين, بدون عموله, بدون عمولات, بدون كومشن, بدون سعي, '
      'دون وسيط, دون وسطاء, دون وساطه, دون مكتب, دون سمسار, دون عموله, بلا وسيط, بلا مكتب, '
      'بلا سمسار, بلا عموله, مو من مكتب, مب من مكتب, مو من المكتب, من غير مكتب, من غير وسيط, '
      'من غير عموله, from owner, from the owner, by owner, by the owner, direct from owner, '
      'direct from the owner, directly from owner, directly from the owner, direct owner, '
      'owner direct, owner only, from landlord, from the landlord, no broker, no brokers, '
      'no agent, no agents, no agency, no middleman, no commission, without broker, '
      'without a broker, without brokers, without agent, without agents, without an agent, '
      'without commission, min al malik, min el malik, min il malik, bdoon maktab, '
      'bedoon maktab, bidoon maktab, bedoon waseet, bidoon waseet, bidoon wasit'),
    ('unit', 'm2',
      'متر, م, م2, امتار, متر مربع, م مربع, م 2, متر 2, مترمربع, m, m2, sqm, sq m, sq, '
      'sqmt, meter, meters, metre, metres, square meter, square meters, square metres, sq '
      'meter, sq meters, sqmeter, mtr, mitr, metr'),
    ('unit', 'rooms',
      'غرف, غرفه, غرف نوم, غرفه نوم, غرفه ماستر, حجره, حجر, bed, beds, bedroom, bedrooms, '
      'bed room, bed rooms, room, rooms, br, bhk, bdr, bd, ghoraf, ghuraf, 8oraf, ghorfa, '
      'ghurfa, ghurfah, ghorfah, ghuruf, ghoruf, 8orfa'),
    ('unit', 'bathrooms',
      'حمام, حمامات, تواليت, تواليتات, دوره مياه, دورات مياه, bath, baths, bathroom, bathrooms, toilet, '
      'toilets, wc, 7amam, 7amamat, hamam, hamamat, hammam, hammamat'),
    ('unit', 'block', 'قطعه, ق, قطعة رقم, block, blk, qit3a, qet3a, git3a'),
    ('unit', 'floor', 'طابق, الطابق, تابق, level, storey'),
    ('unit', 'kwd',
      'دينار, د, د ك, دك, دينار كويتي, دنانير, دينارا, kd, kwd, k d, dinar, dinars, kuwaiti '
      'dinar, dinar kuwaiti'),
    ('unit', 'other',
      'سنه, سنوات, سنين, year, years, كم, كيلو, km, دقيقه, دقايق, minute, minutes, طوابق, شخص, اشخاص, persons, people, سيارات, cars, فلس, '
      'fils, دولار, ريال, درهم, يورو, جنيه, usd, dollar, dollars, sar, aed, euro, بالميه, '
      'بالمايه, percent, مليار, billion, lakh, lac, الفا, الفان, مليونا, سنويا, سنوي, بالسنه, '
      'yearly, annually, per year, a year, يوميا, باليوم, بالليله, لليله, daily, per day, a day, '
      'per night, a night, اسبوعيا, بالاسبوع, weekly, per week, a week, للمتر, بالمتر, per sqm, '
      'per m2, per meter, per metre, per square meter'),
    ('times', '1000',
      'الف, الاف, تلاف, تالاف, k, thousand, thousands, a thousand, alf, alaf'),
    ('times', '1000000',
      'مليون, ملايين, ملاين, million, millions, a million, mil, mln, mn, melyon, milyon'),
    -- private.reading_signs turns ½ and 1/2 into 1ƌ2.
    ('count', '0.25', 'ربع, quarter, a quarter, quarter of a, a quarter of a, rob3, rub3, 1ƌ4'),
    ('count', '0.5', 'نص, نصف, half, half a, a half, half of a, nos, noss, nus, 1ƌ2'),
    ('count', '0.75',
      'ثلاث ارباع, ثلاثه ارباع, تلات ارباع, three quarters, three quarters of a, 3ƌ4'),
    ('count', '1', 'واحد, one'),
    ('count', '2', 'اثنين, ثنين, اتنين, two'),
    ('count', '3', 'ثلاث, ثلاثه, ثلاثت, تلات, تلاته, three'),
    ('count', '4', 'اربع, اربعه, اربعت, four'),
    ('count', '5', 'خمس, خمسه, خمست, five'),
    ('count', '6', 'ست, سته, six'),
    ('count', '7', 'سبع, سبعه, سبعت, seven'),
    ('count', '8', 'ثمان, ثماني, ثمانيه, ثمانيت, ثمنت, تمانيه, تمن, eight'),
    ('count', '9', 'تسع, تسعه, تسعت, nine'),
    ('count', '10', 'عشر, عشره, عشرت, ten'),
    ('count', '11', 'احدعش, حدعش, احد عشر, احدى عشر, eleven'),
    ('count', '12',
      'اثنعش, اثناعش, ثنعش, اطنعش, اتناشر, اثنا عشر, اثني عشر, اثنين عشر, twelve'),
    ('count', '13', 'ثلاثطعش, ثلطعش, ثلاثتعش, ثلتعش, تلتعش, ثلاث عشر, ثلاثه عشر, thirteen'),
    ('count', '14', 'اربعطعش, اربعتعش, اربع عشر, اربعه عشر, fourteen'),
    ('count', '15', 'خمسطعش, خمستعش, خمس عشر, خمسه عشر, fifteen'),
    ('count', '16', 'سطعش, ستعش, ستطعش, ست عشر, سته عشر, sixteen'),
    ('count', '17', 'سبعطعش, سبعتعش, سبع عشر, سبعه عشر, seventeen'),
    ('count', '18',
      'ثمنطعش, ثمانطعش, ثمنتعش, ثمانتعش, تمنتعش, ثمان عشر, ثمانيه عشر, eighteen'),
    ('count', '19', 'تسعطعش, تسعتعش, تسع عشر, تسعه عشر, nineteen'),
    ('count', '20', 'عشرين, عشرون, twenty'),
    ('count', '30', 'ثلاثين, ثلاثون, تلاتين, thirty'),
    ('count', '40', 'اربعين, اربعون, forty, fourty'),
    ('count', '50', 'خمسين, خمسون, fifty'),
    ('count', '60', 'ستين, ستون, sixty'),
    ('count', '70', 'سبعين, سبعون, seventy'),
    ('count', '80', 'ثمانين, ثمانون, تمانين, eighty'),
    ('count', '90', 'تسعين, تسعون, ninety'),
    ('count', '100', 'ميه, ميت, مايه, hundred, a hundred, meya, miya'),
    ('count', '200', 'ميتين, ميتان, مايتين, مايتان, metain, meetain, meeten'),
    ('count', '300',
      'ثلاثميه, ثلاثميت, ثلاثمايه, ثلثميه, ثلثميت, ثلثمايه, تلتميه, تلتميت, تلاتميه'),
    ('count', '400', 'اربعميه, اربعميت, اربعمايه, ربعميه, ربعميت'),
    ('count', '500', 'خمسميه, خمسميت, خمسمايه'),
    ('count', '600', 'ستميه, ستميت, ستمايه'),
    ('count', '700', 'سبعميه, سبعميت, سبعمايه'),
    ('count', '800', 'ثمانميه, ثمانميت, ثمانمايه, ثمنميه, ثمنميت, ثمانيميه, تمنميه, تمانميه'),
    ('count', '900', 'تسعميه, تسعميت, تسعمايه'),
    -- ƚ stands for the article ال, which private.search_text removes from الفين.
    ('count', '2000', 'ƚفين, ƚفي, alfain, alfen, alfeen'),
    ('count', '2000000', 'مليونين, مليونان, melyonain, milyonain'),
    ('rooms', '1', 'غرفه وصاله, غرفه و صاله, غرفه واحده, غرفه نوم واحده'),
    ('rooms', '2',
      'غرفتين, غرفتين نوم, غرفتي نوم, حجرتين, غرفتان, ghorfetain, ghorftain, 8orftain, '
      'ghurftain, ghurfatain, ghorfatain, ghurfetain, ghurftein, ghurftain w sala, '
      'ghorftain w sala'),
    ('bathrooms', '1', 'حمام واحد'),
    ('bathrooms', '2', 'حمامين, حمامان, 7amamain, hamamain, hammamain'),
    ('floor', '0', 'ارضي, ground, grnd'),
    ('ordinal', '1', 'اول, الاولى, 1st, first'),
    ('ordinal', '2', 'ثاني, ثانيه, تاني, 2nd, second'),
    ('ordinal', '3', 'ثالث, ثالثه, تالت, 3rd, third'),
    ('ordinal', '4', 'رابع, رابعه, 4th, fourth'),
    ('ordinal', '5', 'خامس, خامسه, 5th, fifth'),
    ('ordinal', '6', 'سادس, سادسه, 6th, sixth'),
    ('ordinal', '7', 'سابع, سابعه, 7th, seventh'),
    ('ordinal', '8', 'ثامن, ثامنه, 8th, eighth'),
    ('ordinal', '9', 'تاسع, تاسعه, 9th, ninth'),
    ('ordinal', '10', 'عاشر, عاشره, 10th, tenth'),
    ('bound', 'max',
      'اقل من, اقل, ارخص من, اصغر من, تحت, بحد اقصى, حد اقصى, كحد اقصى, اقصى حد, اقصاه, على '
      'الاكثر, بالكثير, او اقل, فاقل, فما دون, فما تحت, ما يتعدى, مايتعدى, لا يتعدى, ما تتعدى, لا '
      'تتعدى, ما يزيد عن, ما يزيد, لا يزيد عن, ما تزيد عن, لا تزيد عن, لا يتجاوز, ما يتجاوز, '
      'لا تتجاوز, ما تتجاوز, مو اكثر من, مب اكثر من, لا اكثر من, مو فوق, مب فوق, مو اغلى من, '
      'يقل عن, تقل عن, مايزيد عن, ماتزيد عن, لايزيد عن, لاتزيد عن, ارخص عن, اقل عن, less than, '
      'cheaper than, lower than, smaller than, under, below, max, '
      'maximum, at most, not exceeding, within, not more than, no more than, not over, not above, '
      'or less, or below, or '
      'under, and below, agal min, aqal min, a8al min, a2al min, agal, a8al, aqal, arkhas min, '
      'ar5as min'),
    ('bound', 'min',
      'اكثر من, اكثر, ازيد من, اكبر من, اعلى من, اعلى, اغلى من, فوق, من فوق, ابتداء من, تبدا '
      'من, يبدا من, حد ادنى, بحد ادنى, كحد ادنى, على الاقل, او اكثر, فاكثر, او اعلى, فما فوق, وما '
      'فوق, ما يقل عن, لا يقل عن, ما تقل عن, لا تقل عن, مو اقل من, مب اقل من, لا اقل من, مو '
      'تحت, يزيد عن, تزيد عن, يتجاوز, تتجاوز, more than, higher than, greater than, bigger than, '
      'larger than, over, above, at least, min, minimum, starting from, starting, not less than, '
      'no less than, not under, or more, or above, and above, and up, akthar min, akthr min, '
      'a3la min, akbar min, akthar'),
    ('bound', 'about',
      'حدود, بحدود, في حدود, حوالي, بحوالي, تقريبا, قرابه, يقارب, around, about, approx, '
      'approximately'),
    ('bound', 'from', 'من, from'),
    ('bound', 'to', 'الى, لين, الين, ل, لغايه, لحد, حتى, to, till, until, up to, upto'),
    ('bound', 'between', 'بين, ما بين, between'),
    ('measure', 'm2', 'مساحه, مساحتها, مساحته, بمساحه, size'),
    ('measure', 'length',
      'شارع, واجهه, واجهتها, واجهته, عرض, عرضه, عمق, طول, ارتفاع, ارتداد, ارتدادات, street, width, '
      'frontage, facade, depth, height, setback'),
    ('measure', 'other',
      'دخل, دخلها, دخله, دخل شهري, دخل سنوي, دخلها شهري, دخلها سنوي, عايد, عايدها, عايد شهري, '
      'عايد سنوي, عائد ايجار, عائد الايجار, دخل ايجار, ايجارها, ايجاره, ايراد, ايرادها, ايراد '
      'شهري, مدخول, مدخولها, موجر, موجره, بدل ايجار, بدل الايجار, بدل سكن, قسط, اقساط, قسط شهري, '
      'فرق, الفرق, فرق السعر, مع فرق, '
      'مقدم, دفعه اولى, عربون, تامين, قرض, خلو, عموله, رسوم, راتب, راتبي, باقي, متبقي, '
      'income, monthly income, rental income, rent allowance, rented for, rented at, installment, '
      'installments, deposit, down '
      'payment, loan, key money, commission, fees, salary'),
    ('negation', '',
      'غير, بدون, مو, مب, موب, مهب, مهوب, مش, بلا, من غير, من دون, بغير, ليس, ليست, الا, عدا, ما عدا, '
      'ماعدا, فيما عدا, باستثناء, استثناء, ومو, ومب, وغير, وبدون, وعدا, no, not, nor, never, non, un, '
      'without, except, except for, excluding, other than, apart from, anything but, anywhere but, '
      'mo, mob, moob, ghair, ghayr, bidoon, bedoon, bdoon, 3ada, ma 3ada, illa, خارج, بعيد عن, بعيده '
      'عن, لا تكون, ما تكون, ما يكون, outside, outside of, away from, far from, avoid, instead of, '
      'not interested in'),
    ('negation', 'verb',
      'ما ابي, ما ابغى, ما نبي, ما نبغي, ما اريد, ما ودي, مابي, مابغى, وما ابي, ولا ابي, ولا ابغى, '
      'لا, do not, don t, dont, ma abi, mabi, ma abgha, mabgha, ma nabi, '
      'ما ابيه, ما ابيها, ما ابغاها, does not, doesn t, is not, isn t'),
    ('negation', 'nor', 'ولا, والا, wala, wla'),
    ('negation', 'doubt', 'ما, can t, cant, cannot'),
    ('join', '', 'او, or'),
    ('plain', '',
      'ايجار شهري, غرفه غسيل, غرفه ملابس, غرفه تخزين, laundry room, store room, فوق السطح'),
    ('stopword', '',
      'في, فى, فيه, فيها, فيهم, به, بها, has, having, ف, ب, بال, وال, مع, علي, عند, عندكم, عندك, هل, و, ال, عن, اللي, ابي, ابغي, ابغى, '
      'ابا, بغيت, نبي, نبغي, اريد, اطلب, ادور, ادور على, دورلي, مطلوب, محتاج, احتاج, للطلب, '
      'يوجد, موجود, متوفر, متوفره, لو سمحت, منطقه, بمنطقه, سعر, بسعر, السعر, سعرها, سعره, مبلغ, '
      'بمبلغ, قيمه, بقيمه, قيمتها, قيمته, ميزانيه, ميزانيتي, ضمن, مدينه, in, at, for, with, on, '
      'the, an, of, near, by, and, i, we, want, need, looking, looking for, find, me, please, '
      'كويت, بالكويت, دوله الكويت, kuwait, any, area, price, priced, budget, al, el, fi, bel, ودي, '
      'ودنا, وين القى, abi, abee, abgha, abghi, nabi, bil, lil, lel, w, اي, كل مكان, anywhere, '
      'everywhere, ما شاء الله, ما ابي الا, ما ابي غير, ما ابغى الا, ما ابغى غير, nothing but, اسكن, '
      'نسكن, to live, قريب من, قريبه من, close to'),
    ('landmark', 'avenues',
      'الافنيوز, افنيوز, الافنيو, افنيوز مول, مجمع الافنيوز, avenues, avenues mall, the avenues mall, '
      'avnues, afnyuz'),
    ('landmark', '360-mall',
      '360 مول, مول 360, مجمع 360, ثري سكستي, 360 mall, mall 360, three sixty mall'),
    ('landmark', 'marina-mall',
      'مارينا مول, المارينا مول, مارينا كريسنت, marina mall, marina crescent'),
    ('landmark', 'al-kout-mall',
      'الكوت مول, كوت مول, مجمع الكوت, al kout mall, kout mall, alkout mall'),
    ('landmark', 'souq-sharq',
      'سوق شرق, سوق شرق مول, souq sharq, souk sharq, sharq mall'),
    ('landmark', 'souq-mubarakiya',
      'سوق المباركيه, المباركيه, اسواق المباركيه, mubarakiya, souq mubarakiya, souk mubarakiya, '
      'mubarakiyah, mubarkiya'),
    ('landmark', 'gate-mall',
      'جيت مول, ذا جيت مول, gate mall, the gate mall, egaila gate mall'),
    ('landmark', 'al-hamra-tower',
      'برج الحمرا, برج الحمراء, مجمع الحمرا, al hamra tower, alhamra tower, hamra tower'),
    ('landmark', 'assima-mall',
      'مجمع العاصمه, العاصمه مول, عاصمه مول, assima mall, asima mall, al assima mall'),
    ('landmark', 'city-centre-salmiya',
      'سيتي سنتر السالميه, سيتي سنتر, سوق السالميه, city centre salmiya, city center salmiya, '
      'salmiya souq'),
    ('landmark', 'al-fanar',
      'الفنار مول, مجمع الفنار, al fanar mall, fanar mall, al fanar complex'),
    ('landmark', 'murouj',
      'المروج, مروج صبحان, murouj, al murouj'),
    ('landmark', 'al-raya',
      'مجمع الرايه, برج الرايه, raya complex, al raya tower'),
    ('landmark', 'salhiya-complex',
      'مجمع الصالحيه, salhiya complex, salhia complex'),
    ('landmark', 'friday-market',
      'سوق الجمعه, friday market, souq al juma'),
    ('landmark', 'tilal',
      'مجمع تلال, تلال مول, tilal complex, tilal mall'),
    ('landmark', 'fahaheel-souq',
      'سوق الفحيحيل, كورنيش الفحيحيل, fahaheel souq, fahaheel market'),
    ('landmark', 'maghateer',
      'مجمع مغاتير, مغاتير, maghateer, maghatir mall'),
    ('landmark', 'promenade',
      'بروميناد مول, البروميناد, مجمع البروميناد, promenade mall, the promenade mall'),
    ('landmark', 'arabella',
      'ارابيلا, مجمع ارابيلا, arabella, arabella complex'),
    ('landmark', 'symphony',
      'سيمفوني مول, مجمع سيمفوني, symphony mall'),
    ('landmark', 'mubarak-hospital',
      'مستشفى مبارك, مستشفى مبارك الكبير, mubarak hospital, mubarak al kabeer hospital'),
    ('landmark', 'farwaniya-hospital',
      'مستشفى الفروانيه, farwaniya hospital, farwaniyah hospital'),
    ('landmark', 'jahra-hospital',
      'مستشفى الجهراء, jahra hospital'),
    ('landmark', 'amiri-hospital',
      'مستشفى الاميري, المستشفى الاميري, amiri hospital, al amiri hospital'),
    ('landmark', 'sabah-hospital',
      'مستشفى الصباح, منطقه الصباح الصحيه, منطقه الصباح الطبيه, sabah hospital, al sabah hospital'),
    ('landmark', 'jaber-hospital',
      'مستشفى جابر, مستشفى جابر الاحمد, jaber hospital, jaber al ahmad hospital'),
    ('landmark', 'dar-al-shifa',
      'مستشفى دار الشفاء, دار الشفاء, dar al shifa, dar al shifa hospital'),
    ('landmark', 'mowasat',
      'مستشفى المواساه, مستشفى المواساه الجديد, mowasat hospital, new mowasat hospital'),
    ('landmark', 'royale-hayat',
      'مستشفى رويال حياه, رويال حياه, royale hayat, royale hayat hospital, royal hayat'),
    ('landmark', 'hadi-hospital',
      'مستشفى هادي, hadi hospital, hadi clinic'),
    ('landmark', 'taiba-hospital',
      'مستشفى طيبه, taiba hospital, taiba clinic'),
    ('landmark', 'salam-hospital',
      'مستشفى السلام, مستشفى السلام الدولي, al salam hospital, salam international hospital'),
    ('landmark', 'ahmadi-hospital',
      'مستشفى الاحمدي, ahmadi hospital, koc hospital'),
    ('landmark', 'razi-hospital',
      'مستشفى الرازي, مستشفى ابن سينا, razi hospital, ibn sina hospital'),
    ('landmark', 'shadadiya-university',
      'جامعه الكويت الشداديه, جامعه الشداديه, الجامعه الشداديه, shadadiya university, '
      'sabah al salem university'),
    ('landmark', 'aum',
      'جامعه الشرق الاوسط, جامعه aum, aum, american university of the middle'),
    ('landmark', 'gust',
      'جامعه الخليج, جامعه جست, gust, gust university, gulf university'),
    ('landmark', 'khaldiya-university',
      'جامعه الكويت الخالديه, جامعه الخالديه, kuwait university khaldiya'),
    ('landmark', 'shuwaikh-university',
      'جامعه الكويت الشويخ, جامعه الشويخ, kuwait university shuwaikh'),
    ('landmark', 'kuwait-towers',
      'ابراج الكويت, الابراج الكويتيه, kuwait towers, abraj alkuwait, abraj al kuwait'),
    ('landmark', 'liberation-tower',
      'برج التحرير, liberation tower'),
    ('landmark', 'shaheed-park',
      'حديقه الشهيد, منتزه الشهيد, shaheed park, al shaheed park'),
    ('landmark', 'jaber-cultural-centre',
      'مركز جابر الثقافي, مركز جابر الاحمد الثقافي, دار الاوبرا, الاوبرا, jacc, opera house, '
      'jaber cultural centre'),
    ('landmark', 'scientific-center',
      'المركز العلمي, scientific center, scientific centre'),
    ('landmark', 'abdullah-al-salem-centre',
      'مركز عبدالله السالم, مركز عبدالله السالم الثقافي, ascc'),
    ('landmark', 'airport',
      'المطار, مطار الكويت, مطار الكويت الدولي, airport, kuwait airport, kuwait international airport'),
    ('landmark', 'bayan-palace',
      'قصر بيان, bayan palace'),
    ('landmark', 'grand-mosque',
      'المسجد الكبير, grand mosque'),
    ('landmark', 'national-assembly',
      'مجلس الامه, national assembly'),
    ('landmark', 'jaber-stadium',
      'استاد جابر, استاد جابر الاحمد, jaber stadium'),
    ('landmark', 'kuwait-club',
      'نادي الكويت, استاد الكويت, kuwait club, kuwait sporting club'),
    ('landmark', 'kazma-club',
      'نادي كاظمه, kazma club'),
    ('landmark', 'qadsia-club',
      'نادي القادسيه, qadsia club'),
    ('landmark', 'arabi-club',
      'نادي العربي, النادي العربي, arabi club'),
    ('landmark', 'salmiya-club',
      'نادي السالميه, salmiya club'),
    ('landmark', 'fairground',
      'ارض المعارض, معرض مشرف, fairground, fairgrounds, mishref fairground'),
    ('landmark', 'green-island',
      'الجزيره الخضراء, green island'),
    ('landmark', 'egaila-beach',
      'شاطئ العقيله, بحر العقيله, egaila beach'),
    ('landmark', 'khairan-mall',
      'الخيران مول, خيران مول, khairan mall, khiran mall, al khiran mall'),
    ('landmark', 'shuwaikh-port',
      'ميناء الشويخ, shuwaikh port'),
    ('landmark', 'ministries-complex',
      'مجمع الوزارات, ministries complex'),
    ('landmark', 'stock-exchange',
      'البورصه, بورصه الكويت, stock exchange, boursa'),
    ('landmark', 'palace-of-justice',
      'قصر العدل, palace of justice'),
    ('landmark', 'american-embassy',
      'السفاره الامريكيه, american embassy, us embassy'),
    ('landmark', 'kuwait-zoo',
      'حديقه الحيوان, حديقه الحيوانات, kuwait zoo'),
    ('landmark', 'muhallab',
      'مجمع المهلب, muhallab mall, al muhallab mall'),
    ('landmark', 'sheraton',
      'دوار الشيراتون, شيراتون, sheraton, sheraton roundabout'),
    ('landmark', 'national-museum',
      'المتحف الوطني, national museum'),
    ('before', '',
      'غرب, شمال, جنوب, شرقي, غربي, شمالي, جنوبي, يم, جنب, بجنب, مقابل, قريب, قريبه, قرب, بقرب, بالقرب, جمب, opposite, beside, close, next, yam, janb, qareeb'),
    ('area', 'salmiya',
      'سالميا, salmiyah, salmiyya, salmya, salmia, salmeya, alsalmiya, as salmiya, '
      'salemiya, essalmiya, salmieh'),
    ('area', 'hawalli',
      'حولى, hawally, hawali, hawalley, hawaly, 7awally, 7awalli, houli, 7awali, 7wali, 7wally, '
      'hwalli, hwally'),
    ('area', 'maidan-hawalli', 'ميدان حولى, maidan hawally, maidan hawali, midan hawally'),
    ('area', 'jabriya', 'جابريا, jabriyah, jabria, jabreya, jabrya, aljabriya'),
    ('area', 'rumaithiya',
      'رميثيا, رميثه, rumaithiyah, rumaithya, rumaythiya, romaithiya, rumethiya'),
    ('area', 'bayan', 'bian'),
    ('area', 'mishref', 'مشرف قديم, mishrif, meshref, moshref, mishraf'),
    ('area', 'salwa', 'سلوا, salwah'),
    ('area', 'shaab',
      'شعب, الشعب البحري, الشعب السكني, شعب بحري, sha3ab, al shaab, shab, alsha3ab, al sha3ab, '
      'shaa3b'),
    ('area', 'mubarak-al-abdullah', 'mubarak abdullah, west mishref, mubarak abdulla'),
    ('area', 'messila', 'messilah, mesila, mesilah, al messila, msila, mseela'),
    ('area', 'masayel', 'مسايل, masayel, massayel, almasayel'),
    ('area', 'fnaitees', 'فنيطيس, فنيطس, funaitees, finaitees, fnaytees, fnai6ees'),
    ('area', 'abu-ftaira',
      'ابو فطيره, ابوفطيره, abu futaira, abu fatira, abu ftera, abo ftaira, bu ftaira, '
      'bo ftaira, abu f6aira, bu f6aira'),
    ('area', 'abu-al-hasaniya',
      'ابو حصانيه, ابوالحصانيه, abu hasaniya, abu alhasaniya, abu al 7asaniya, abu 7asaniya, '
      'bu hasaniya, bu 7asaniya'),
    ('area', 'sabah-al-salem',
      'صباح سالم, sabah al salim, sabah alsalim, sabah salim, saba7 al salem, saba7 alsalem, '
      '9aba7 al salem, 9aba7 alsalem, saba7 il salem'),
    ('area', 'mubarak-al-kabeer',
      'mubarak al kabir, mubarak alkabir, mubarak kabir, mubarak alkabeer'),
    ('area', 'mahboula', 'مهبوله, mahbula, mahboola, mahbola, mehboula, mahboulah'),
    ('area', 'mangaf', 'منقف, mangaff, mangef, mengaf, manqaf'),
    ('area', 'fahaheel',
      'فحاحيل, فحيحل, fahahil, fahaheil, fhaheel, fahaheal, fa7a7eel, fa7aheel, fahahel, '
      'fa7a7il'),
    ('area', 'abu-halifa',
      'ابو حليفه, ابوحليفه, abu halaifa, abu haleefa, abu huleifa, abo halifa, abuhalifa, '
      'abo halefa, abu 7alifa, abu 7alaifa, bu halifa, bu 7alifa, bo 7alifa'),
    ('area', 'fintas', 'فنطاس, fentas, alfintas, fin6as, fen6as'),
    ('area', 'egaila',
      'عقيله, العقيله, eqaila, egeila, uqaila, aqaila, egila, 3egaila, 3gaila, 3qaila, 3ageela'),
    ('area', 'riqqa', 'رقه, riqa, reqqa'),
    ('area', 'hadiya', 'هديه, hadiyah, hadeya'),
    ('area', 'jaber-al-ali', 'jaber ali, jabir al ali'),
    ('area', 'dhaher', 'ظهر, thaher, daher, dhahar, thahar'),
    ('area', 'sabahiya', 'صباحيه, sabahiyah, sabahya, saba7iya, 9aba7iya'),
    ('area', 'fahad-al-ahmad', 'فهد احمد, fahad ahmad, fahd al ahmad, fahad al a7mad'),
    ('area', 'ali-sabah-al-salem',
      'علي صباح سالم, ام الهيمان, ام هيمان, um al hayman, umm al haiman, um alhaiman, um '
      'haiman'),
    ('area', 'sabah-al-ahmad',
      'صباح احمد, صباح الاحمد السكنيه, sabah al ahmed, sabah alahmad, sabah ahmad city, '
      'sabah al ahmad, sabah ahmad, saba7 al a7mad, saba7 al ahmad, 9aba7 al a7mad'),
    ('area', 'sabah-al-ahmad-sea',
      'صباح الاحمد البحري, لؤلؤه الخيران, لولوه الخيران, sabah al ahmad sea, sea city'),
    ('area', 'khairan',
      'خيران, الخيران السكنيه, khiran, khayran, kheiran, al khiran, alkhairan, khiran city, '
      '5airan, 5iran, 5eiran'),
    ('area', 'bnaider', 'بنيدر, benaider, bneder, bnayder, bnaidar'),
    ('area', 'julaia', 'جليعه, jlaiaa, julaiah, julaiaa, jlaia, jlai3a, jilai3a, julai3a, jlay3a'),
    ('area', 'zour', 'زور, al zour, azzour'),
    ('area', 'nuwaiseeb', 'نويصيب, nuwaisib, nwaiseeb, nuwaisseb, nuwai9eeb, nwai9eeb'),
    ('area', 'mina-abdullah', 'مينا عبدالله, mina abdulla, mina 3abdullah, mina 3abdulla'),
    ('area', 'wafra, wafra-residential', 'وفره, wafra, wafrah, alwafra'),
    ('area', 'abdali', 'abdaly, al abdali, abdeli, 3abdali, 3abdaly, 3bdali, al 3abdali'),
    ('area', 'kabd', 'kabad, kebd'),
    ('area', 'jahra', 'جهرا, jahrah, aljahra, al jahra, aljahraa, jahraa'),
    ('area', 'farwaniya', 'فروانيا, farwaniyah, farwania, farwaneya, farwanya'),
    ('area', 'khaitan', 'kheitan, khaytan, ketan, 5aitan, 5eitan, 5e6an, 5ai6an, 5itan, khetan'),
    ('area', 'jleeb',
      'جليب, الجليب, جليب شيوخ, جليب الشويخ, jleeb, jlib, jaleeb, abbasiya, العباسيه, جليب '
      'الشيوخ العباسيه, jleeb shuyoukh, jaleeb al shuyoukh'),
    ('area', 'riggae',
      'رقعي, rigga, riggai, reggae, rigae, regai, riggea, rig3i, reg3i, riq3i, req3i, ri8ai'),
    ('area', 'ardiya',
      'عارضيه, ardhiya, ardiyah, al ardiya, aardiya, 3ardiya, 3ardhiya, 3ardya, 3ar''9iya, '
      'al 3ardiya'),
    ('area', 'ishbiliya', 'اشبيليه, eshbilia, ishbilia, ishbiliah, eshbelya'),
    ('area', 'firdous', 'فردوس, ferdous, firdoos, ferdos'),
    ('area', 'andalous', 'اندلس, andalus, andalos'),
    ('area', 'sabah-al-nasser', 'sabah nasser, sabah al nasir'),
    ('area', 'rabiya', 'رابيه, rabia, rabyah'),
    ('area', 'omariya', 'عمريه, omariyah, omaria, umariya, 3omariya, 3umariya, 3omareya'),
    ('area', 'rehab', 'رحاب, rihab, alrehab, re7ab, ri7ab'),
    ('area', 'dajeej', 'ضجيج, dajij, dhajeej, thajeej'),
    ('area', 'rai', 'ري, al rai, alrai, al ray, بالري'),
    ('area', 'abdullah-al-mubarak',
      'عبدالله مبارك, abdullah mubarak, abdulla mubarak, 3abdullah al mubarak, '
      '3abdulla mubarak'),
    ('area', 'west-abdullah-al-mubarak', 'غرب عبدالله مبارك, west abdullah mubarak'),
    ('area', 'south-abdullah-al-mubarak', 'جنوب عبدالله مبارك, south abdullah mubarak'),
    ('area', 'kuwait-city, sharq, mirqab, qibla, dasman, salhiya',
      'الكويت العاصمه, ديره, مدينه كويت, downtown, city center, kuwait city, kuwait cty'),
    ('area', 'sharq', 'شرق, منطقه شرق, sharg, alsharq'),
    ('area', 'mirqab', 'مرقاب, mirgab, murgab, murqab'),
    ('area', 'qibla', 'قبله, جبله, qiblah, jibla, jiblah, gibla, qebla'),
    ('area', 'dasman', 'دسمان, dessman'),
    ('area', 'salhiya', 'صالحيه, salhiyah, salhia, salehiya, sal7iya, 9al7iya'),
    ('area', 'bneid-al-gar',
      'بنيد قار, بنيدالقار, bneid al qar, bnaid al gar, bnaid al qar, bneid gar, bneid al '
      'gar, bnied al gar'),
    ('area', 'dasma', 'دسمه, dasmah'),
    ('area', 'daiya', 'دعيه, daiyah, dayya, daeya, da3iya, d3aya, da3eya'),
    ('area', 'mansouriya', 'منصوريه, mansouriyah, mansuriya, mansoria, man9ouriya, man9oria'),
    ('area', 'abdullah-al-salem',
      'عبدالله سالم, الضاحيه, abdulla al salem, abdullah al salim, abdullah salem, dahia, '
      'dahiya, 3abdullah al salem, 3abdulla al salem'),
    ('area', 'nuzha', 'نزهه, nuzhah, nozha'),
    ('area', 'faiha', 'فيحا, faihaa, fayha, alfaiha, fai7a, fay7a'),
    ('area', 'shamiya', 'شاميه, shamiyah, shamia, shameya'),
    ('area', 'rawda', 'روضه, rawdah, rawdha, rodha, rawda, raw''9a, row''9a'),
    ('area', 'adailiya',
      'عديليه, adailiyah, adeliya, udailiya, adiliya, adelia, 3adailiya, 3dailiya, 3adeliya, '
      '3diliya'),
    ('area', 'khaldiya', 'خالديه, khaldiyah, khaldia, khalidiya'),
    ('area', 'kaifan', 'keifan, kifan, kayfan'),
    ('area', 'qadsiya', 'قادسيه, qadsiyah, qadsia, qadisiya, gadsiya, 8adsiya, 8adsia'),
    ('area', 'qortuba',
      'قرطبه, qurtuba, qurtubah, cordoba, gortuba, qur6uba, 8ur6uba, gur6uba, gor6ba'),
    ('area', 'surra', 'سره, surrah, sura, alsurra'),
    ('area', 'zahra, salam, hitteen, shuhada, siddiq',
      'جنوب السره, south surra, south al surra, janoub surra, janoub al surra'),
    ('area', 'yarmouk', 'يرموك, yarmuk, yarmook'),
    ('area', 'shuwaikh, shuwaikh-industrial', 'شويخ, shuwaikh, shwaikh, shuweikh'),
    ('area', 'shuwaikh', 'شويخ سكني, shuwaikh residential'),
    ('area', 'shuwaikh-industrial',
      'شويخ صناعيه, شويخ صناعي, shuwaikh ind, shuwaikh industrial area'),
    ('area', 'sulaibikhat',
      'صليبيخات, صليبخات, sulaibikhat, sulaibkhat, slaibikhat, slaibi5at, sulaibi5at, '
      '9laibi5at'),
    ('area', 'doha', 'دوحه, doha kuwait, aldoha, do7a, doo7a'),
    ('area', 'nahda', 'نهضه, nahdha, alnahda'),
    ('area', 'qairawan', 'قيروان, qayrawan, qeirawan, qairwan'),
    ('area', 'nw-sulaibikhat',
      'شمال غرب صليبخات, شمال غرب الصليبخات, north west sulaibikhat, nw sulaibikhat, غرب '
      'الصليبخات'),
    ('area', 'jaber-al-ahmad',
      'جابر احمد, جابر الاحمد السكنيه, jaber ahmad, jaber al ahmed, jabir al ahmad, jaber '
      'alahmad, jaber al a7mad, jabir al a7mad'),
    ('area', 'anjafa', 'انجفه, angafa, anjafah'),
    ('area', 'bidaa', 'بدع, al bidaa, bida, bidea'),
    ('area', 'salam', 'سلام, al salam, assalam'),
    ('area', 'hitteen',
      'حطين, hateen, hiteen, hittin, hettin, 7itteen, 7i6een, 7e6een, 7iteen, 7ateen'),
    ('area', 'shuhada', 'شهدا, shuhadaa, shohada, alshuhada'),
    ('area', 'zahra', 'زهرا, zahraa, alzahra, zahrah'),
    ('area', 'siddiq', 'صديق, siddeeq, sideeq, alsiddeeq, seddiq, 9iddeeq, 9ideeq'),
    ('area', 'adan', 'عدان, adaan, aladan, al adan, 3adan, al 3adan, 3dan'),
    ('area', 'qusour', 'قصور, qosour, gosoor, qusoor'),
    ('area', 'qurain', 'قرين, qurein, alqurain, gurain, 8urain, 8rain'),
    ('area', 'subhan', 'صبحان, sabhan, sobhan, sub7an, 9ab7an, 9ub7an'),
    ('area', 'wista', 'وسطى, wasta'),
    ('area', 'ahmadi', 'احمدي, ahmady, alahmadi, al ahmadi, a7madi, al a7madi, a7mady'),
    ('area', 'naeem', 'نعيم, alnaeem, naem, na3eem, na3im, al na3eem'),
    ('area', 'naseem', 'نسيم, nasim, alnaseem'),
    ('area', 'oyoun', 'عيون, oyoon, uyoun, al oyoun, 3oyoun, 3yoon, 3oyoon'),
    ('area', 'qasr', 'قصر, al qasr, gasr'),
    ('area', 'waha', 'واحه, wahah, al waha, wa7a, al wa7a'),
    ('area', 'taima', 'تيما, tayma, taimaa, teima'),
    ('area', 'saad-al-abdullah',
      'سعد عبدالله, saad abdullah, saad al abdulla, sad al abdullah, sa3ad al abdullah, '
      'sa3ad al 3abdullah, sa3d al 3abdullah, saad al 3abdullah'),
    ('area', 'sulaibiya', 'صليبيه, صلبيه, sulaibiyah, slaibiya, 9laibiya, 9ulaibiya'),
    ('area', 'amghara', 'امغره, amgara, omghara'),
    ('area', 'mutlaa',
      'مطلاع, المطلاع, mutla, al mutlaa, almutlaa, mutlah, mutlaa, mutla3, al mutla3, mo6la3, '
      'mu6la3, m6la3, matla3'),
    ('area', 'salmi', 'سالمي, al salmi, alsalmi'),
    ('area', 'subiya', 'صبيه, subiyah, sabiya, subbiya, 9ubiya, 9abiya'),
    ('area', 'south-khaitan', 'خيطان الجنوبي, south kheitan'),
    ('area', 'abraq-khaitan', 'abrak khaitan, abraq kheitan'),
    ('area', 'granada', 'غرناطه, gharnata'),
    ('area', 'failaka', 'فيلكه, faylaka, failaka island'),
    ('area', 'wafra-residential', 'وفره سكنيه, الوفره السكني, wafra residential'),
    ('governorate', 'capital',
      'محافظه العاصمه, العاصمه, capital governorate, kuwait capital, محافظه عاصمه'),
    ('governorate', 'hawalli', 'محافظه حولي, hawalli governorate, hawally governorate'),
    ('governorate', 'farwaniya', 'محافظه الفروانيه, farwaniya governorate'),
    ('governorate', 'mubarak-al-kabeer', 'محافظه مبارك الكبير, mubarak al kabeer governorate'),
    ('governorate', 'ahmadi', 'محافظه الاحمدي, ahmadi governorate'),
    ('governorate', 'jahra', 'محافظه الجهراء, jahra governorate')
  ) as meant (field, codes, phrases)
  cross join lateral regexp_split_to_table(meant.codes, ', ') as value (value)
  cross join lateral string_to_table(meant.phrases, ', ') as given (phrase)
)
insert into private.reading_words (phrase, field, value)
select once.phrase, once.field, once.value from once
-- If a phrase already has another meaning, for example from an admin, it keeps that meaning.
where not exists (
  select from private.reading_words as known
  where known.phrase = once.phrase and (known.field <> once.field or not known.is_name and not exists (
    select from once as listed
    where (listed.phrase, listed.field, listed.value) = (known.phrase, known.field, known.value)))
)
on conflict do nothing;
