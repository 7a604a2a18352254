export const providerSettings = {
  SMS_PROVIDER: {
    twilio: ['SMS_ACCOUNT_SID', 'SMS_AUTH_TOKEN', 'SMS_SENDER'],
    kwtsms: ['SMS_USERNAME', 'SMS_PASSWORD', 'SMS_SENDER'],
    unifonic: ['SMS_APP_SID', 'SMS_SENDER'],
  },
  MAIL_PROVIDER: {
    resend: ['MAIL_API_KEY', 'MAIL_FROM'],
    postmark: ['MAIL_API_KEY', 'MAIL_FROM'],
  },
  PAYMENT_PROVIDER: {
    tap: ['TAP_SECRET_KEY', 'RETURN_URLS'],
    myfatoorah: ['MYFATOORAH_TOKEN', 'MYFATOORAH_WEBHOOK_SECRET', 'RETURN_URLS'],
    sandbox: ['SANDBOX_SECRET'],
  },
} as const
