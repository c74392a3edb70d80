import type { Language } from '../contract/languages.ts';

export type ReceiptTexts = {
  title: string;
  statement: string;
  number: string;
  submitted: string;
  name: string;
  contact: string;
  plan: string;
  concluded: string;
  refund: string;
  refundOpen: string;
  objection: string;
  download: string;
  stranger: string;
};

export const receiptTexts: Record<Language, ReceiptTexts> = {
  en: {
    title: 'Confirmation of your withdrawal',
    statement: 'You have withdrawn from your contract with {company}',
    number: 'Number',
    submitted: 'Received',
    name: 'Name',
    contact: 'Contact',
    plan: 'Contract',
    concluded: 'Concluded',
    refund: 'You get back',
    refundOpen: 'We compute what you get back and tell you.',
    objection:
      'It was made without signing in and takes effect on {until}. The owner of the number can confirm it or object before',
    download: 'This confirmation as a file, for 30 days',
    stranger:
      'Somebody has stated this without signing in, and gave your e-mail address for the confirmation. What was written stands in the file. If it was not you, you need not do anything.',
  },
  es: {
    title: 'Confirmación de tu desistimiento',
    statement: 'Has desistido de tu contrato con {company}',
    number: 'Número',
    submitted: 'Recibido',
    name: 'Nombre',
    contact: 'Contacto',
    plan: 'Contrato',
    concluded: 'Celebrado',
    refund: 'Se te devuelve',
    refundOpen: 'Calculamos lo que se te devuelve y te lo comunicamos.',
    objection:
      'Se hizo sin entrar en la cuenta y surte efecto el {until}. Quien tiene el número puede confirmarla o rechazarla antes',
    download: 'Esta confirmación como archivo, durante 30 días',
    stranger:
      'Alguien lo declaró sin entrar en la cuenta y dio tu correo electrónico para la confirmación. Lo que se escribió está en el archivo. Si no fuiste tú, no tienes que hacer nada.',
  },
  'pt-BR': {
    title: 'Confirmação da sua desistência',
    statement: 'Você desistiu do seu contrato com {company}',
    number: 'Número',
    submitted: 'Recebido',
    name: 'Nome',
    contact: 'Contato',
    plan: 'Contrato',
    concluded: 'Celebrado',
    refund: 'Você recebe de volta',
    refundOpen: 'Calculamos o valor que você recebe de volta e avisamos você.',
    objection:
      'Foi feita sem entrar na conta e passa a valer em {until}. Quem tem o número pode confirmar ou recusar antes',
    download: 'Esta confirmação em arquivo, por 30 dias',
    stranger:
      'Alguém declarou isso sem entrar na conta e informou o seu e-mail para a confirmação. O que foi escrito está no arquivo. Se não foi você, não é preciso fazer nada.',
  },
};
