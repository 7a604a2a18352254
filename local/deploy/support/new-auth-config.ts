const named = (value: unknown, names: string) =>
  Object.fromEntries(names.split(/\s+/).filter(Boolean).map((name) => [name, value]))

const providers =
  'apple azure bitbucket discord facebook figma github gitlab google kakao keycloak ' +
  'linkedin_oidc notion slack slack_oidc spotify twitch twitter workos x zoom'
const hooks =
  'after_user_created before_user_created custom_access_token mfa_verification_attempt ' +
  'password_verification_attempt send_email send_sms'
const mails = 'confirmation email_change invite magic_link reauthentication recovery'
const notices = 'email_changed identity_linked identity_unlinked mfa_factor_enrolled ' +
  'mfa_factor_unenrolled password_changed phone_changed'

const each = (words: string, of: (word: string) => Record<string, unknown>) =>
  Object.assign({}, ...words.split(' ').map(of)) as Record<string, unknown>

export const freshAuth = (): Record<string, unknown> => ({
  ...each(providers, (name) => ({
    [`external_${name}_client_id`]: null,
    [`external_${name}_email_optional`]: false,
    [`external_${name}_enabled`]: false,
    [`external_${name}_secret`]: null,
    [`external_${name}_url`]: null,
    [`external_${name}_additional_client_ids`]: null,
  })),
  ...each(hooks, (name) => ({
    [`hook_${name}_enabled`]: false,
    [`hook_${name}_uri`]: null,
    [`hook_${name}_secrets`]: null,
  })),
  ...each(mails, (name) => ({
    [`mailer_subjects_${name}`]: 'Subject',
    [`mailer_templates_${name}_content`]: 'Text',
  })),
  ...each(notices, (name) => ({
    [`mailer_notifications_${name}_enabled`]: false,
    [`mailer_subjects_${name}_notification`]: 'Subject',
    [`mailer_templates_${name}_notification_content`]: 'Text',
  })),
  ...named(
    false,
    `custom_oauth_enabled disable_signup external_anonymous_users_enabled external_phone_enabled
    external_web3_ethereum_enabled external_web3_solana_enabled mailer_allow_unverified_email_sign_ins
    mfa_allow_low_aal mfa_phone_enroll_enabled mfa_phone_verify_enabled mfa_totp_enroll_enabled
    mfa_totp_verify_enabled mfa_web_authn_enroll_enabled mfa_web_authn_verify_enabled
    oauth_server_allow_dynamic_registration oauth_server_enabled passkey_enabled password_hibp_enabled
    saml_allow_encrypted_assertions saml_enabled security_captcha_enabled
    security_manual_linking_enabled security_sb_forwarded_for_enabled
    security_update_password_require_current_password
    security_update_password_require_reauthentication sessions_single_per_user sms_autoconfirm
    external_google_skip_nonce_check audit_log_disable_postgres`,
  ),
  ...named(
    true,
    `external_email_enabled mailer_autoconfirm mailer_secure_email_change_enabled
    refresh_token_rotation_enabled mfa_totp_enroll_enabled mfa_totp_verify_enabled`,
  ),
  ...named(
    null,
    `nimbus_oauth_client_id nimbus_oauth_client_secret nimbus_oauth_email_optional
    oauth_server_authorization_path saml_external_url security_captcha_secret sessions_tags
    sms_messagebird_access_key sms_messagebird_originator sms_test_otp sms_test_otp_valid_until
    sms_textlocal_api_key sms_textlocal_sender sms_twilio_account_sid sms_twilio_auth_token
    sms_twilio_content_sid sms_twilio_message_service_sid sms_twilio_verify_account_sid
    sms_twilio_verify_auth_token sms_twilio_verify_message_service_sid sms_vonage_api_key
    sms_vonage_api_secret sms_vonage_from smtp_admin_email smtp_host smtp_pass smtp_port
    smtp_sender_name smtp_user webauthn_rp_display_name webauthn_rp_id webauthn_rp_origins`,
  ),
  api_max_request_duration: 10,
  custom_oauth_max_providers: 3,
  db_max_pool_size: 10,
  db_max_pool_size_unit: 'connections',
  jwt_exp: 3600,
  mailer_otp_exp: 3600,
  mailer_otp_length: 6,
  mfa_max_enrolled_factors: 10,
  mfa_phone_max_frequency: 5,
  mfa_phone_otp_length: 6,
  mfa_phone_template: 'Your code is {{ .Code }}',
  password_min_length: 6,
  password_required_characters: '',
  rate_limit_anonymous_users: 30,
  rate_limit_email_sent: 2,
  rate_limit_otp: 30,
  rate_limit_sms_sent: 30,
  rate_limit_token_refresh: 150,
  rate_limit_verify: 30,
  rate_limit_web3: 30,
  security_captcha_provider: 'hcaptcha',
  security_refresh_token_reuse_interval: 10,
  sessions_inactivity_timeout: 0,
  sessions_timebox: 0,
  site_url: 'http://localhost:3000',
  sms_max_frequency: 5,
  sms_otp_exp: 60,
  sms_otp_length: 6,
  sms_provider: 'twilio',
  sms_template: 'Your code is {{ .Code }}',
  smtp_max_frequency: 60,
  uri_allow_list: '',
})
