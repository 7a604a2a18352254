// Every error of the API (contract, section 9): HTTP status, Arabic text, English text.

export type ErrorCode = keyof typeof errors

export const errors = {
  body_not_json: [400, 'صيغة الطلب غير صالحة', 'The request is not valid JSON'],
  token_missing: [401, 'يجب تسجيل الدخول للمتابعة', 'Sign in to continue'],
  token_expired: [
    401,
    'انتهت صلاحية الجلسة، يرجى تسجيل الدخول مرة أخرى',
    'Your session has expired, sign in again',
  ],
  token_invalid: [
    401,
    'جلسة غير صالحة، يرجى تسجيل الدخول مرة أخرى',
    'Your session is not valid, sign in again',
  ],
  invalid_credentials: [401, 'بيانات الدخول غير صحيحة', 'Incorrect sign-in details'],
  social_token_invalid: [
    401,
    'تعذر التحقق من تسجيل الدخول، حاول مرة أخرى',
    'The sign-in could not be verified, try again',
  ],
  social_token_used: [
    401,
    'استُخدمت بيانات الدخول هذه من قبل، أعد المحاولة من جديد عبر {provider}',
    'These sign-in details were used before, try again with {provider}',
  ],
  webhook_signature_invalid: [401, 'توقيع الإشعار غير صالح', 'Invalid notification signature'],
  quota_exceeded: [
    402,
    'وصلت إلى الحد الأقصى للإعلانات في باقتك',
    "You have reached your plan's listing limit",
  ],
  wallet_insufficient: [402, 'رصيد المحفظة غير كافٍ', 'Insufficient wallet balance'],
  admin_only: [403, 'هذه العملية للمشرفين فقط', 'This action is for administrators only'],
  identity_type_required: [
    403,
    'هذه الخدمة متاحة لحساب {type} فقط',
    'This feature is available to {type} accounts only',
  ],
  identity_not_usable: [
    403,
    'هذه الهوية غير مفعّلة حالياً',
    'This identity is not active at the moment',
  ],
  account_awaiting_otp: [
    403,
    'يرجى إدخال رمز التحقق المرسل إلى هاتفك لتفعيل الحساب',
    'Enter the code sent to your phone to activate your account',
  ],
  account_suspended: [403, 'تم إيقاف حسابك مؤقتاً: {reason}', 'Your account is suspended: {reason}'],
  account_banned: [403, 'تم حظر هذا الحساب', 'This account has been banned'],
  not_participant: [403, 'لست طرفاً في هذه المحادثة', 'You are not part of this conversation'],
  blocked: [403, 'لا يمكن إرسال رسالة إلى هذا المستخدم', 'You cannot message this user'],
  account_unproven: [
    403,
    'يرجى تأكيد رقم هاتفك أو بريدك الإلكتروني أولاً',
    'Please confirm your phone number or email first',
  ],
  recipient_proven_only: [
    403,
    'يستقبل هذا المستخدم الرسائل من الحسابات المؤكدة فقط',
    'This user accepts messages from confirmed accounts only',
  ],
  review_not_eligible: [
    403,
    'يمكنك التقييم بعد التواصل مع المعلن فقط',
    'You can leave a review only after contacting the advertiser',
  ],
  review_hidden: [
    403,
    'لا يمكنك كتابة تقييم جديد لهذه الجهة',
    'You cannot write a new review of this advertiser',
  ],
  property_not_found: [404, 'العقار غير موجود أو تم حذفه', 'Listing not found or deleted'],
  terms_not_accepted: [
    403,
    'يرجى الموافقة على الشروط والأحكام أولاً',
    'Please accept the terms and conditions first',
  ],
  session_not_found: [404, 'الجلسة غير موجودة أو انتهت', 'This session is not there, or has ended'],
  identity_not_found: [404, 'الهوية غير موجودة', 'Identity not found'],
  org_not_found: [404, 'الشركة أو المكتب غير موجود', 'Company or office not found'],
  conversation_not_found: [404, 'المحادثة غير موجودة', 'Conversation not found'],
  invoice_not_found: [404, 'الفاتورة غير موجودة', 'Invoice not found'],
  plan_not_found: [404, 'الباقة غير موجودة', 'Plan not found'],
  document_not_found: [404, 'المستند غير موجود', 'Document not found'],
  change_not_found: [
    404,
    'طلب التغيير غير موجود أو انتهت صلاحيته',
    'The change was not found or has expired',
  ],
  user_not_found: [404, 'المستخدم غير موجود', 'User not found'],
  route_not_found: [404, 'المسار المطلوب غير موجود', 'Path not found'],
  method_not_allowed: [405, 'طريقة الطلب غير مسموحة', 'Method not allowed'],
  upload_timeout: [408, 'انتهت مهلة رفع الملف، حاول مرة أخرى', 'The upload timed out, try again'],
  email_taken: [409, 'البريد الإلكتروني مسجل بالفعل', 'This email is already registered'],
  phone_taken: [409, 'رقم الهاتف مسجل بالفعل', 'This phone number is already registered'],
  terms_outdated: [
    409,
    'تم تحديث الشروط والأحكام، يرجى مراجعتها من جديد',
    'The terms and conditions have been updated, please read them again',
  ],
  change_too_soon: [409, 'لا يمكن التغيير الآن، حاول لاحقاً', 'It cannot be changed now, try later'],
  last_identifier: [
    409,
    'لا يمكن حذف وسيلة الدخول الوحيدة لحسابك',
    'The only way to sign in to your account cannot be removed',
  ],
  identity_changed: [
    409,
    'تم تغيير الهوية النشطة من جهاز آخر، أعد المحاولة',
    'The active identity was changed on another device, try again',
  ],
  property_state_conflict: [
    409,
    'لا يمكن تنفيذ هذا الإجراء على الإعلان في حالته الحالية',
    "This action is not possible in the listing's current state",
  ],
  type_immutable: [
    409,
    'لا يمكن تغيير نوع الإعلان بعد النشر',
    'The listing type cannot be changed after publishing',
  ],
  documents_full: [
    409,
    'وصلت إلى الحد الأقصى للمستندات',
    'You have reached the limit of documents',
  ],
  documents_changed: [
    409,
    'تغيّرت المستندات، راجعها من جديد',
    'The documents have changed, look at them again',
  ],
  version_conflict: [
    409,
    'تم تعديل البيانات من جهاز آخر، حدّث الصفحة',
    'This was changed on another device, reload the page',
  ],
  status_transition_invalid: [409, 'تغيير الحالة غير مسموح', 'This status change is not allowed'],
  refund_repeated: [
    409,
    'تم تنفيذ استرداد مماثل قبل قليل',
    'A refund like this one was made a little while ago',
  ],
  invoice_already_paid: [409, 'الفاتورة مدفوعة بالفعل', 'This invoice has already been paid'],
  payment_in_progress: [
    409,
    'توجد عملية دفع جارية لهذه الفاتورة',
    'A payment of this invoice is in progress',
  ],
  already_subscribed: [
    409,
    'أنت مشترك في هذه الباقة بالفعل',
    'You are already subscribed to this plan',
  ],
  plan_audience_mismatch: [
    409,
    'هذه الباقة غير متاحة لنوع هويتك',
    'This plan is not available for your type of identity',
  ],
  licence_in_use: [
    409,
    'رقم الترخيص مسجل لجهة أخرى',
    'This licence number is registered to another organisation',
  ],
  identities_full: [
    409,
    'وصلت إلى الحد الأقصى للطلبات التي تنتظر التوثيق',
    'You have reached the limit of requests awaiting verification',
  ],
  blocks_full: [
    409,
    'وصلت إلى الحد الأقصى لعدد المحظورين',
    'You have reached the limit of people you can block',
  ],
  duplicate_listing: [
    409,
    'لديك إعلان نشط للعقار نفسه',
    'You already have an active listing of the same property',
  ],
  drafts_full: [
    409,
    'وصلت إلى الحد الأقصى للمسودات',
    'You have reached the limit of drafts',
  ],
  uploads_full: [
    409,
    'وصلت إلى الحد الأقصى للصور غير المستخدمة',
    'You have reached the limit of pictures that are not used yet',
  ],
  passkeys_full: [
    409,
    'وصلت إلى الحد الأقصى لمفاتيح المرور',
    'You have reached the limit of passkeys',
  ],
  topups_full: [
    409,
    'لديك فواتير شحن لم تُدفع بعد، ادفع إحداها أو انتظر انتهاء صلاحيتها',
    'You have unpaid top-up invoices: pay one or wait until it expires',
  ],
  awaiting_answer: [
    409,
    'يمكنك المتابعة بعد أن يرد الطرف الآخر',
    'You can go on once the other side has answered',
  ],
  review_exists: [409, 'سبق أن قيّمت هذا المعلن', 'You have already reviewed this advertiser'],
  report_exists: [409, 'سبق أن أبلغت عن هذا المحتوى', 'You have already reported this'],
  account_has_obligations: [
    409,
    'لا يمكن حذف الحساب قبل تسوية المبالغ أو المزادات القائمة',
    'Settle outstanding amounts and auctions before deleting your account',
  ],
  last_admin: [409, 'لا يمكن إيقاف آخر مشرف', 'The last administrator cannot be deactivated'],
  otp_expired: [
    410,
    'انتهت صلاحية رمز التحقق، اطلب رمزاً جديداً',
    'The code has expired, request a new one',
  ],
  file_too_large: [
    413,
    'حجم الملف أكبر من الحد المسموح ({max} ميغابايت)',
    'The file exceeds the size limit ({max} MB)',
  ],
  body_too_large: [413, 'حجم الطلب أكبر من الحد المسموح', 'The request exceeds the size limit'],
  file_not_image: [415, 'يُسمح برفع الصور فقط', 'Only images can be uploaded'],
  file_not_document: [
    415,
    'يُسمح برفع الصور وملفات PDF فقط',
    'Only images and PDF files can be uploaded',
  ],
  validation_failed: [422, 'يرجى التحقق من البيانات المدخلة', 'Check the information you entered'],
  identifier_unchanged: [
    422,
    'هذا هو رقمك أو بريدك الحالي',
    'This is your present number or email',
  ],
  identifier_invalid: [
    422,
    'أدخل بريداً إلكترونياً صحيحاً أو رقم هاتف كويتياً صحيحاً',
    'Enter a valid email or Kuwaiti phone number',
  ],
  password_too_short: [
    422,
    'كلمة المرور يجب ألا تقل عن 8 أحرف',
    'Password must be at least 8 characters',
  ],
  password_too_long: [422, 'كلمة المرور طويلة جداً', 'Password is too long'],
  password_mismatch: [422, 'كلمتا المرور غير متطابقتين', 'Passwords do not match'],
  otp_invalid: [422, 'رمز التحقق غير صحيح', 'Incorrect code'],
  device_platform_invalid: [422, 'نوع الجهاز غير مدعوم', 'Unsupported device type'],
  price_required: [
    422,
    'السعر مطلوب لإعلانات البيع والإيجار',
    'A price is required for sale and rent listings',
  ],
  contact_missing: [
    422,
    'أضف رقم هاتف أو فعّل المحادثة ليتمكن المهتمون من التواصل معك',
    'Add a phone number or allow chat, so that whoever is interested can reach you',
  ],
  field_not_for_type: [
    422,
    'هذا الحقل لا ينطبق على نوع الإعلان',
    'This field does not apply to this type of listing',
  ],
  search_strategy_unknown: [422, 'نوع البحث غير معروف', 'Unknown search strategy'],
  feed_filter_unknown: [422, 'التصنيف المطلوب غير معروف', 'Unknown feed filter'],
  filter_unknown: [422, 'معيار بحث غير معروف', 'Unknown search filter'],
  range_invalid: [
    422,
    'الحد الأدنى يجب ألا يتجاوز الحد الأعلى',
    'The minimum must not exceed the maximum',
  ],
  bbox_invalid: [422, 'نطاق الخريطة غير صالح', 'Invalid map bounds'],
  cursor_invalid: [422, 'مؤشر الصفحة غير صالح', 'Invalid page cursor'],
  location_outside_area: [
    422,
    'الموقع المحدد خارج المنطقة المختارة',
    'The chosen location is outside the chosen area',
  ],
  area_invalid: [
    422,
    'المنطقة لا تتبع المحافظة المختارة',
    'The area does not belong to the selected governorate',
  ],
  licence_expired: [422, 'الترخيص منتهي الصلاحية', 'The licence has expired'],
  file_missing: [422, 'لم يتم إرفاق ملف', 'No file was attached'],
  message_empty: [422, 'لا يمكن إرسال رسالة فارغة', 'An empty message cannot be sent'],
  message_too_long: [422, 'الرسالة طويلة جداً', 'The message is too long'],
  amount_out_of_range: [
    422,
    'المبلغ خارج الحدود المسموحة',
    'The amount is outside the allowed limits',
  ],
  review_self: [422, 'لا يمكنك تقييم نفسك', 'You cannot review yourself'],
  idempotency_mismatch: [
    422,
    'مفتاح العملية مستخدم لطلب مختلف',
    'This idempotency key was used for a different request',
  ],
  otp_resend_too_soon: [
    429,
    'يمكنك طلب رمز جديد بعد {seconds} ثانية',
    'You can request a new code in {seconds} seconds',
  ],
  otp_locked: [
    429,
    'محاولات كثيرة خاطئة، اطلب رمزاً جديداً لاحقاً',
    'Too many incorrect codes, request a new one later',
  ],
  rate_limited: [429, 'محاولات كثيرة، حاول بعد قليل', 'Too many attempts, try again shortly'],
  internal: [
    500,
    'حدث خطأ غير متوقع، رقم المرجع {requestId}',
    'Something went wrong, reference {requestId}',
  ],
  payment_provider_error: [
    502,
    'تعذر الاتصال ببوابة الدفع، حاول مرة أخرى',
    'The payment provider could not be reached, try again',
  ],
  sms_send_failed: [
    502,
    'تعذر إرسال الرسالة النصية، حاول مرة أخرى',
    'The text message could not be sent, try again',
  ],
  provider_disabled: [
    503,
    'تسجيل الدخول عبر {provider} غير مُفعّل حالياً',
    'Sign-in with {provider} is not available at the moment',
  ],
  sms_not_configured: [
    503,
    'خدمة الرسائل النصية غير متاحة حالياً',
    'Text messages are not available at the moment',
  ],
  mail_not_configured: [
    503,
    'خدمة البريد الإلكتروني غير متاحة حالياً',
    'Mail is not available at the moment',
  ],
  payment_not_configured: [
    503,
    'الدفع الإلكتروني غير متاح حالياً',
    'Online payment is not available at the moment',
  ],
  not_found: [404, 'العنصر المطلوب غير موجود', 'Not found'],
  admin_self: [
    409,
    'لا يمكنك تنفيذ هذا الإجراء على حسابك',
    'You cannot do this to your own account',
  ],
  admin_target: [
    409,
    'لا يمكن تنفيذ هذا الإجراء على حساب مشرف',
    'This cannot be done to the account of an administrator',
  ],
  proof_required: [
    403,
    'يرجى تأكيد هويتك أولاً للمتابعة',
    'Please prove who you are first',
  ],
  passkey_required: [
    403,
    'يرجى التأكيد بمفتاح المرور للمتابعة',
    'Please confirm with your passkey to continue',
  ],
  review_edit_closed: [409, 'انتهت مهلة تعديل التقييم', 'The time to edit this review has passed'],
  content_type_unsupported: [415, 'نوع المحتوى غير مدعوم', 'Unsupported content type'],
  service_unavailable: [
    503,
    'الخدمة غير متاحة مؤقتاً، حاول بعد قليل',
    'The service is temporarily unavailable, try again shortly',
  ],
  maintenance: [
    503,
    'الخدمة متوقفة مؤقتاً للصيانة، يرجى المحاولة بعد قليل',
    'The service is closed for maintenance, try again in a little while',
  ],
  timeout: [504, 'استغرقت العملية وقتاً طويلاً، حاول مرة أخرى', 'The request timed out, try again'],
} as const satisfies Record<string, readonly [status: number, ar: string, en: string]>

export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errors, code)

/** Used instead of the general texts if the format of a picture is known. */
export const formatTexts = {
  file_not_image: [
    'الصور بصيغة {format} غير مدعومة، أرسلها بصيغة JPEG أو PNG أو WebP',
    '{format} pictures are not accepted: send JPEG, PNG or WebP',
  ],
  file_not_document: [
    'الصور بصيغة {format} غير مدعومة، أرسلها بصيغة JPEG أو PNG أو WebP أو PDF',
    '{format} pictures are not accepted: send JPEG, PNG, WebP or PDF',
  ],
} as const

/** Texts for field codes that are not errors of their own. */
export const fieldTexts = {
  required: ['هذا الحقل مطلوب', 'This field is required'],
  unknown: ['حقل غير معروف', 'Unknown field'],
  too_small: ['القيمة أصغر من المسموح', 'The value is too small'],
  too_big: ['القيمة أكبر من المسموح', 'The value is too large'],
  too_short: ['النص أقصر من المسموح', 'The text is too short'],
  too_long: ['النص أطول من المسموح', 'The text is too long'],
  not_allowed: ['القيمة ليست من القيم المسموحة', 'Not one of the allowed values'],
  invalid: ['القيمة غير صالحة', 'Invalid value'],
} as const

/** Appended to the texts of too_short and too_long if the limit is known. */
export const boundTexts = {
  min: ['، الحد الأدنى {bound}', ': {bound} at least'],
  max: ['، الحد الأقصى {bound}', ': {bound} at most'],
} as const
